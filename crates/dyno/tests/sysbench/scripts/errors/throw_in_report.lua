-- An error in a report's hook.
-- servers: none
-- $ --events=1 --threads=1 run

function sysbench.hooks.report_cumulative()
   error("thrown in the report")
end

function event()
end

function done()
   print("done")
end
