-- Lines of intervals, without and with SQL.
-- servers: none mariadb
-- counters: random
-- $ --time=0 --report-interval=1 --threads=2 run

ffi.cdef("int usleep(unsigned int microseconds);")

function thread_init()
   if sysbench.opt.mysql_db ~= "sbtest" or sysbench.opt.pgsql_db ~= "sbtest" then
      con = sysbench.sql.driver():connect()
   end
end

local events = 0

function event()
   -- Few, so that the report counts the same, and long enough for a line, however late it comes.
   events = events + 1
   if events == 3 then
      return true
   end
   if con then
      con:query("SELECT 1")
   end
   ffi.C.usleep(1600000)
end
