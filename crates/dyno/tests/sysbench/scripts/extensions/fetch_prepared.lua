-- Rows of prepared statements, which sysbench 1.0.20 cannot fetch.

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER, b VARCHAR(10))")
   con:query("INSERT INTO t VALUES (1, 'one'), (2, NULL), (3, 'three')")
   local stmt = con:prepare("SELECT a, b FROM t WHERE a < ? ORDER BY a")
   local limit = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(limit)
   for _, value in ipairs({3, 10, 0}) do
      limit:set(value)
      local rs = stmt:execute()
      print("rows", rs.nrows, rs.nfields)
      for _ = 1, rs.nrows do
         print(unpack(rs:fetch_row(), 1, rs.nfields))
      end
      rs:free()
   end
   stmt:close()
   con:disconnect()
   return true
end
