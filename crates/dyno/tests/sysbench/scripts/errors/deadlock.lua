-- A deadlock restarts the event of one thread; in the end both have done their work.
-- counters: random
-- $ prepare
-- $ --events=100 --threads=2 run

-- Both threads take their first row, then wait for each other's.
ffi.cdef("int usleep(unsigned int microseconds);")

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
   con:query("INSERT INTO t VALUES (0, 0), (1, 0)")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   events = 0
end

function sysbench.hooks.before_restart_event(failure)
   io.write("restart\n")
   -- The other thread must get the rows first.
   ffi.C.usleep(300000)
end

function event(thread_id)
   if events == 1 then
      return true
   end
   con:query("BEGIN")
   con:query("UPDATE t SET n = n + 1 WHERE id = " .. thread_id)
   ffi.C.usleep(200000)
   con:query("UPDATE t SET n = n + 1 WHERE id = " .. 1 - thread_id)
   con:query("COMMIT")
   events = 1
end

function thread_done()
   con:disconnect()
end
