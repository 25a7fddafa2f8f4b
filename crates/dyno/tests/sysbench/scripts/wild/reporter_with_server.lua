-- Reports asked of the server: each reporting state connects by itself and has globals of its own.
-- lines: any order
-- $ --time=0 --report-interval=1 --threads=2 run
-- $ --time=0 --report-interval=2 --report-checkpoints=1 --threads=1 run
-- counters: random

ffi.cdef("int usleep(unsigned int);")

function thread_init()
   con = sysbench.sql.driver():connect()
end

local events = 0

function event()
   events = events + 1
   if events == 3 then
      return true
   end
   con:query("SELECT 1")
   -- The second lasts until both kinds of reports have come that come on the way.
   local names = events == 2 and (sysbench.opt.report_interval == 1 and {"interval"} or {"interval", "cumulative"}) or {}
   for _, name in ipairs(names) do
      while not io.open(sysbench.opt.report_interval .. name) do
         ffi.C.usleep(10000)
      end
   end
end

local function status()
   watcher = watcher or sysbench.sql.driver():connect()
   local rs = watcher:query("SELECT 1, 'two', NULL")
   local row = rs:fetch_row()
   return row[1] .. row[2], row[3]
end

local intervals = 0

function sysbench.hooks.report_intermediate(stat)
   if intervals == 0 then
      print("interval", stat.threads_running, stat.errors, status())
      io.open(sysbench.opt.report_interval .. "interval", "w"):close()
   end
   intervals = intervals + 1
end

function sysbench.hooks.report_cumulative(stat)
   print("cumulative", intervals, stat.events > 0, stat.reads > 0, stat.writes, stat.reconnects, status())
   io.open(sysbench.opt.report_interval .. "cumulative", "w"):close()
end
