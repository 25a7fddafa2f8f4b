-- A connection has fields about its last statement.
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER)")
   print(tonumber(con.error), con.sql_errno)
   print(pcall(con.query, con, "SELECT * FROM missing"))
   con:disconnect()
end
