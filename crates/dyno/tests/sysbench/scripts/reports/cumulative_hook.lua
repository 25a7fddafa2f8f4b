-- The hook for the last report runs in the main state, before done().
-- servers: none
-- $ --events=7 --threads=2 run
-- lines: any order

who = "a new state"

function init()
   who = "the main state"
end

function sysbench.hooks.report_cumulative(stat)
   print("reported in " .. who, stat.events, stat.threads_running, sysbench.tid)
end

function event()
end

function done()
   print("done in " .. who)
end
