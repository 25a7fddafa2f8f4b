-- An error in before_restart_event().
-- servers: none
-- $ --events=1 --threads=1 run

function sysbench.hooks.before_restart_event()
   error("thrown in the hook")
end

function event()
   error({errcode = sysbench.error.RESTART_EVENT})
end
