-- An error in the hook sql_error_ignorable.
-- $ --events=1 --threads=1 run

function sysbench.hooks.sql_error_ignorable(failure)
   error("thrown in the hook")
end

function event()
   sysbench.sql.driver():connect():query("SELECT * FROM missing")
end
