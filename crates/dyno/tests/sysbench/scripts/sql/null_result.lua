-- A statement without rows gives something that equals nil but counts as true.
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local created = con:query("CREATE TABLE t(a INTEGER)")
   print(created == nil, not created, type(created))
   assert(con:query("INSERT INTO t VALUES (1)"))
   if not con:query("UPDATE t SET a = 2") then
      print("never")
   end
   print(con:query("DELETE FROM t") == nil, con:query("BEGIN") == nil, con:query("COMMIT") == nil)
   print(con:query("SELECT 1") ~= nil)
   con:disconnect()
end
