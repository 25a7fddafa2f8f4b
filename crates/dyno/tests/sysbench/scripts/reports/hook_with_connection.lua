-- A report hook has a connection of its own, and writes what it gets into a table.
-- servers: mariadb postgres
-- $ prepare
-- $ --time=0 --report-interval=1 --threads=2 run
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
   if not con then
      store("interval", stat)
      io.open("reported", "w"):close()
   end
end

function sysbench.hooks.report_cumulative(stat)
   store("end", stat)
end

local is_reported = false

function event()
   if is_reported then
      return true
   end
   -- Until there was a report.
   while not is_reported do
      ffi.C.usleep(10000)
      is_reported = io.open("reported") ~= nil
   end
end
