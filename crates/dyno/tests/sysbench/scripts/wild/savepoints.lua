-- Savepoints, nested failures caught by pcall, the connection used on.
-- $ --events=3 --threads=1 run

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   con:query("CREATE TABLE s(id INTEGER PRIMARY KEY, n INTEGER)")
   n = 0
end

local function try(sql)
   local ok, err = pcall(con.query, con, sql)
   if not ok then
      print("failed", type(err), type(err) == "string" and err:match("errno = (%d+), state = '(%w+)'") or err.sql_errno)
   end
   return ok
end

function event()
   n = n + 1
   con:query("BEGIN")
   con:query(("INSERT INTO s VALUES (%d, 0)"):format(n))
   con:query("SAVEPOINT one")
   try(("INSERT INTO no_such_table VALUES (%d, 1)"):format(n))
   con:query("ROLLBACK TO SAVEPOINT one")
   con:query(("UPDATE s SET n = n + %d"):format(n))
   con:query("RELEASE SAVEPOINT one")
   if n == 2 then con:query("ROLLBACK") else con:query("COMMIT") end
end

function thread_done()
   print(con:query_row("SELECT COUNT(*), SUM(n) FROM s"))
   con:disconnect()
end
