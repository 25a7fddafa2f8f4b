-- LOAD DATA LOCAL with files that the script has written, one larger than a packet, and one that is not there.
-- servers: mariadb
-- $ --events=1 --threads=1 run

local function load(con, name)
   local sql = "LOAD DATA LOCAL INFILE '" .. name .. "' INTO TABLE loaded FIELDS TERMINATED BY ','"
   return (pcall(con.query, con, sql))
end

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE loaded(id INTEGER PRIMARY KEY, t VARCHAR(120))")
   for n, rows in ipairs({10, 1500, 0}) do
      local file = io.open("rows.csv", "w")
      for i = 1, rows do
         file:write(n * 10000 + i, ",", ("row " .. i):rep(10), "\n")
      end
      file:close()
      print(n, load(con, "rows.csv"), con:query_row("SELECT COUNT(*), MAX(t) FROM loaded"))
   end
   print(load(con, 'missing.csv'), con:query_row("SELECT 'still here'"))
end
