-- The server refuses the password.
-- $ --mysql-password=wrong --pgsql-password=wrong --events=1 --threads=1 run

function thread_init()
   sysbench.sql.driver():connect()
end

function event()
end
