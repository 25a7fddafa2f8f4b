-- Reports asked of the server: each reporting state connects by itself and has globals of its own.
-- $ --time=2 --report-interval=1 --threads=2 run
-- $ --time=3 --report-interval=2 --report-checkpoints=1 --threads=1 run
-- counters: random

ffi.cdef("int usleep(unsigned int);")

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT 1")
   ffi.C.usleep(300000)
end

local function status()
   watcher = watcher or sysbench.sql.driver():connect()
   local rs = watcher:query("SELECT 1, 'two', NULL")
   local row = rs:fetch_row()
   return row[1] .. row[2], row[3]
end

local intervals = 0

function sysbench.hooks.report_intermediate(stat)
   if intervals == 0 and stat.time_total < 2.5 then
      print("interval", stat.threads_running, stat.errors, status())
   end
   intervals = intervals + 1
end

function sysbench.hooks.report_cumulative(stat)
   print("cumulative", intervals, stat.events > 0, stat.reads > 0, stat.writes, stat.reconnects, status())
end
