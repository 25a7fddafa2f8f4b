-- One bulk insert stays open over many events; it is finished when the thread ends.
-- $ prepare
-- $ --events=2000 --time=0 --threads=1 run

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(thread INTEGER, id INTEGER, pad VARCHAR(600))")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   con:bulk_insert_init("INSERT INTO t VALUES")
   rows, pad = 0, ("y"):rep(500)
end

function event(thread_id)
   rows = rows + 1
   con:bulk_insert_next(("(%d, %d, '%s')"):format(thread_id, rows, pad))
end

function thread_done()
   con:bulk_insert_done()
   con:disconnect()
end
