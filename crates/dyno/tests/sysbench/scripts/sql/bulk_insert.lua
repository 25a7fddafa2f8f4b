-- A bulk insert joins rows into statements of at most 512 KiB.
-- $ prepare
-- $ cleanup

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER, pad VARCHAR(1000))")
   con:bulk_insert_init("INSERT INTO t VALUES")
   local pad = ("x"):rep(990)
   for id = 1, 2000 do
      con:bulk_insert_next(("(%d, '%s')"):format(id, pad))
   end
   con:bulk_insert_done()
   con:bulk_insert_init("INSERT INTO t VALUES\n")
   con:bulk_insert_done()
   con:bulk_insert_init("insert into t (id, pad) values ")
   con:bulk_insert_next("(-1, 'one')")
   con:bulk_insert_done()
   con:bulk_insert_done()
   print(con:query_row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"))
   con:query("DELETE FROM t WHERE id > 0")
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE t")
end
