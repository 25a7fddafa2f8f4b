-- An error that the hook does not take is fatal.
-- $ --events=2 --threads=1 run

function sysbench.hooks.sql_error_ignorable(failure)
   print("asked", failure.sql_state)
   return false
end

function event()
   sysbench.sql.driver():connect():query("SELECT * FROM missing")
end
