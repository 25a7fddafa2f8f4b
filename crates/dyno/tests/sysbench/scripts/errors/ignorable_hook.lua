-- The hook sql_error_ignorable decides about other errors.
-- $ --events=2 --threads=1 run

local attempts = 0

function sysbench.hooks.sql_error_ignorable(failure)
   print("asked", failure.sql_errno, failure.sql_state, failure.sql_errmsg, failure.query)
   return attempts < 4
end

function sysbench.hooks.before_restart_event(failure)
   print("restart", failure.sql_state, failure.errcode)
end

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   attempts = attempts + 1
   con:query("SELECT 1")
   if attempts % 2 == 1 then
      con:query("SELECT * FROM missing")
   end
end

function thread_done()
   print("attempts", attempts)
end
