-- Lines of intervals, without and with SQL.
-- servers: none mariadb
-- counters: random
-- $ --time=2 --report-interval=1 --threads=2 run

ffi.cdef("int usleep(unsigned int microseconds);")

function thread_init()
   if sysbench.opt.mysql_db ~= "sbtest" or sysbench.opt.pgsql_db ~= "sbtest" then
      con = sysbench.sql.driver():connect()
   end
end

function event()
   -- Slow and few, so that the report counts the same.
   ffi.C.usleep(550000)
   if con then
      con:query("SELECT 1")
   end
end
