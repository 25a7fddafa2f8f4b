-- Report hooks get the figures, and stand in place of the program's reports.
-- servers: none postgres
-- $ --time=2 --report-interval=1 --threads=2 run
-- lines: any order
-- counters: random

ffi.cdef("int usleep(unsigned int microseconds);")

local function fields(stat)
   local names = {}
   for name, value in pairs(stat) do
      names[#names + 1] = name .. ":" .. type(value)
   end
   table.sort(names)
   return table.concat(names, " ")
end

function sysbench.hooks.report_intermediate(stat)
   if stat.time_total < 1.5 then
      io.write("intermediate ", fields(stat), "\n")
      io.write(("threads %d, interval %.0f, total %.0f, seen from thread %d\n"):format(stat.threads_running, stat.time_interval,
         stat.time_total, sysbench.tid))
   end
end

function sysbench.hooks.report_cumulative(stat)
   io.write("cumulative ", fields(stat), "\n")
   io.write(("events %d, reads %d, writes %d, other %d, errors %d, reconnects %d\n"):format(stat.events, stat.reads, stat.writes,
      stat.other, stat.errors, stat.reconnects))
   print(stat.latency_min <= stat.latency_avg, stat.latency_avg <= stat.latency_max, stat.latency_sum > 0.4, stat.latency_pct > 0.4)
end

function thread_init()
   if sysbench.opt.mysql_db ~= "sbtest" or sysbench.opt.pgsql_db ~= "sbtest" then
      con = sysbench.sql.driver():connect()
   end
end

function event()
   ffi.C.usleep(550000)
   if con then
      con:query("SELECT 1")
   end
end
