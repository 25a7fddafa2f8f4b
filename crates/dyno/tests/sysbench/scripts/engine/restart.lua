-- A restart error repeats the same event from its beginning, after the hook. It is one event.
-- servers: none
-- $ --events=3 --threads=1 run

local attempts = 0

function sysbench.hooks.before_restart_event(failure)
   print("before restart", type(failure), failure.errcode, failure.note)
end

function event()
   attempts = attempts + 1
   print("attempt", attempts)
   if attempts % 3 ~= 0 then
      error({errcode = sysbench.error.RESTART_EVENT, note = "again " .. attempts})
   end
end
