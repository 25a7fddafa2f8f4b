-- A result knows its numbers of rows and columns and gives its rows one by one, as texts.
-- $ --events=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER, name VARCHAR(20))")
   con:query("INSERT INTO t VALUES (1, 'one'), (2, NULL), (3, '')")
end

function event()
   local rs = con:query("SELECT id, name FROM t ORDER BY id")
   print(rs.nrows, rs.nfields, type(rs.nrows))
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      print(type(row[1]), row[1], type(row[2]), row[2], #row)
   end
   print(rs:fetch_row(), rs:fetch_row())
   rs:free()

   local none = con:query("SELECT id FROM t WHERE id > 10")
   print(none.nrows, none.nfields, none:fetch_row())
   none:free()

   rs = con:query("SELECT NULL, id, NULL FROM t WHERE id = 1")
   local row, count = rs:fetch_row(), 0
   for _ in pairs(row) do
      count = count + 1
   end
   print(count, unpack(row, 1, rs.nfields))
end

function thread_done()
   con:disconnect()
end
