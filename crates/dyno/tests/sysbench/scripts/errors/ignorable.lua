-- Errors that the options name restart the event.
-- servers: mariadb mysql
-- $ --mysql-ignore-errors=1146 --events=2 --threads=1 run
-- $ --mysql-ignore-errors=all --events=2 --threads=1 run
-- $ --mysql-ignore-errors= --events=1 --threads=1 run

local attempts = 0

function sysbench.hooks.before_restart_event(failure)
   print("restart", failure.sql_errno, failure.sql_state, failure.sql_errmsg, failure.query, failure.errcode, failure.connection ~= nil)
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
   con:disconnect()
end
