-- A statement after its connection was closed.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local stmt = con:prepare("SELECT 1")
   con:disconnect()
   print(pcall(stmt.execute, stmt))
end
