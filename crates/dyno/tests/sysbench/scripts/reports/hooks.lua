-- Report hooks get the figures, and stand in place of the program's reports.
-- servers: none postgres
-- $ --time=0 --report-interval=1 --threads=2 run
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

local is_told = false

function sysbench.hooks.report_intermediate(stat)
   if not is_told then
      is_told = true
      io.write("intermediate ", fields(stat), "\n")
      io.write(("threads %d, seen from thread %d\n"):format(stat.threads_running, sysbench.tid))
      -- On a busy machine it comes late.
      print(stat.time_interval > 0.9, stat.time_total > 0.9, math.abs(stat.time_total - stat.time_interval) < 0.5)
      io.open("reported", "w"):close()
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

local events = 0

function event()
   events = events + 1
   if events == 3 then
      return true
   end
   -- The second lasts until there was a report.
   local file = nil
   while not file do
      ffi.C.usleep(10000)
      file = events == 1 or io.open("reported")
   end
   ffi.C.usleep(250000)
   if con then
      con:query("SELECT 1")
   end
end
