-- Prepared statements of the 0.5 interface take a table of variables.
-- servers: mariadb mysql
-- $ --events=3 --num-threads=1 run

function thread_init()
   db_connect()
   db_query("CREATE TABLE t(a INTEGER, b INTEGER)")
   stmt = db_prepare("INSERT INTO t VALUES (?, ?)")
   params = {}
   params[1] = '444'
   params[2] = 1
   db_bind_param(stmt, params)
   events = 0
end

function event()
   events = events + 1
   params[1] = events
   params[2] = 10 * events
   rs = db_execute(stmt)
   db_store_results(rs)
   db_free_results(rs)
end

function thread_done()
   db_close(stmt)
   db_disconnect()
end
