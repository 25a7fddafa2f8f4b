-- A deadlock restarts the event of one thread; in the end both have done their work.
-- counters: random
-- $ prepare
-- $ --events=100 --time=0 --threads=2 run

-- Both threads take their first row, then wait for each other's. Files say how far they are, whatever holds one of them up.
ffi.cdef("int usleep(unsigned int microseconds);")

local function tell(name, thread)
   io.open(name .. thread, "w"):close()
end

local function await(name, thread)
   local file = io.open(name .. thread)
   while not file do
      ffi.C.usleep(5000)
      file = io.open(name .. thread)
   end
   file:close()
end

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
   con:query("INSERT INTO t VALUES (0, 0), (1, 0)")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   if sysbench.opt.db_driver == "mysql" then
      con:query("SET innodb_lock_wait_timeout = 50")
   end
   events = 0
end

function sysbench.hooks.before_restart_event(failure)
   io.write("restart\n")
   -- The other thread must get the rows first.
   await("done", 1 - sysbench.tid)
end

function event(thread_id)
   if events == 1 then
      return true
   end
   con:query("BEGIN")
   con:query("UPDATE t SET n = n + 1 WHERE id = " .. thread_id)
   tell("has", thread_id)
   await("has", 1 - thread_id)
   con:query("UPDATE t SET n = n + 1 WHERE id = " .. 1 - thread_id)
   con:query("COMMIT")
   tell("done", thread_id)
   events = 1
end

function thread_done()
   con:disconnect()
end
