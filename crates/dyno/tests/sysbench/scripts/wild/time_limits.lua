-- A statement that the server ends at its time limit leaves the connection, its settings and temporary tables.
-- servers: mariadb
-- $ --events=1 run
-- $ --events=1 --mysql-ignore-errors=1969,3024 run
-- counters: random

local function limited(con, is_mariadb)
   con:query(is_mariadb and "SET max_statement_time = 0.05" or "SET max_execution_time = 50")
   -- Rows one after the other, so that the limit comes in the middle of a result.
   return pcall(con.query, con, "SELECT SLEEP(0.03) FROM numbers WHERE n > 0")
end

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TEMPORARY TABLE numbers (n INT PRIMARY KEY)")
   con:query("INSERT INTO numbers VALUES (1), (2), (3), (4), (5), (6), (7), (8)")
   local is_mariadb = con:query_row("SELECT VERSION()"):find("MariaDB") ~= nil
   local ok, err = limited(con, is_mariadb)
   print(ok, type(err))
   con:query(is_mariadb and "SET max_statement_time = 0" or "SET max_execution_time = 0")
   print(con:query_row("SELECT COUNT(*) FROM numbers"))
   con:disconnect()
end
