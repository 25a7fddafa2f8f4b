-- A restart error needs no hook.
-- servers: none
-- $ --events=2 --threads=1 run

local attempts = 0

function event()
   attempts = attempts + 1
   if attempts % 2 == 1 then
      error({errcode = sysbench.error.RESTART_EVENT})
   end
end

function thread_done()
   print("attempts", attempts, sysbench.error.NONE, sysbench.error.RESTART_EVENT)
end
