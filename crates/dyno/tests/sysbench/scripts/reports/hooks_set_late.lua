-- Report hooks count as the top level of the main state sets them: one that init() sets is never called, one that
-- the reporting state lacks prints nothing, one that init() removes prints nothing in the end.
-- servers: none
-- $ --late=init --time=2 --report-interval=1 run
-- $ --late=removed --events=1 run
-- $ --late=main --time=2 --report-interval=1 run

ffi.cdef("int usleep(unsigned int microseconds);")

local function set()
   function sysbench.hooks.report_intermediate() print("intermediate hook") end
   function sysbench.hooks.report_cumulative() print("cumulative hook") end
end

-- Options are not known at the top level, so the command line itself is looked at.
for _, argument in pairs(sysbench.cmdline.argv) do
   if argument == "--late=removed" or argument == "--late=main" and sysbench.tid == 0 then
      set()
   end
end

function init()
   if late == "init" then
      set()
   elseif late == "removed" then
      sysbench.hooks.report_cumulative = nil
   end
end

function event()
   ffi.C.usleep(350000)
end
