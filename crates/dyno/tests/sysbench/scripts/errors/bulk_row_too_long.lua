-- A row that is longer than the buffer of a bulk insert.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a TEXT)")
   con:bulk_insert_init("INSERT INTO t VALUES")
   con:bulk_insert_next("('" .. ("x"):rep(600000) .. "')")
   con:bulk_insert_done()
end
