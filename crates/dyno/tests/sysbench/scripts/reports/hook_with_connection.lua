-- A report hook has a connection of its own, and writes what it gets into a table.
-- servers: mariadb postgres
-- $ prepare
-- $ --time=2 --report-interval=1 --threads=2 run
-- counters: random

ffi.cdef("int usleep(unsigned int microseconds);")

function prepare()
   sysbench.sql.driver():connect():query("CREATE TABLE reports(kind VARCHAR(20), threads INTEGER)")
end

local function store(kind, stat)
   con = con or sysbench.sql.driver():connect()
   con:query(("INSERT INTO reports VALUES ('%s', %d)"):format(kind, stat.threads_running))
end

function sysbench.hooks.report_intermediate(stat)
   if stat.time_total < 1.5 then
      store("interval", stat)
   end
end

function sysbench.hooks.report_cumulative(stat)
   store("end", stat)
end

function event()
   ffi.C.usleep(550000)
end
