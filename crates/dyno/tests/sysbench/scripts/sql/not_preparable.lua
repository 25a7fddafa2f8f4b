-- Statements that a server cannot prepare are sent as text.
-- servers: mariadb mysql
-- $ --events=2 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER)")
   begin, rollback = con:prepare("BEGIN"), con:prepare("ROLLBACK")
   start = con:prepare("XA START 'x'")
   finish = con:prepare("XA END 'x'")
   commit = con:prepare("XA COMMIT 'x' ONE PHASE")
   insert = con:prepare("INSERT INTO t VALUES (1)")
   sleep = con:prepare("SELECT sleep(0)")
end

function event()
   begin:execute()
   insert:execute()
   rollback:execute()
   start:execute()
   insert:execute()
   finish:execute()
   commit:execute()
   sleep:execute()
end

function thread_done()
   print(con:query_row("SELECT COUNT(*) FROM t"))
   con:disconnect()
end
