-- con:reconnect(), in which sysbench 1.0.20 crashes with some client libraries. It is counted.

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER)")
end

function event()
   con:query("INSERT INTO t VALUES (1)")
   con:reconnect()
end

function thread_done()
   print("rows", con:query_row("SELECT COUNT(*) FROM t"))
   con:disconnect()
end
