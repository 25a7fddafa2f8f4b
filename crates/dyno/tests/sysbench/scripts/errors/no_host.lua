-- No host, no driver.
-- servers: none
-- $ --mysql-host= --events=1 run
-- $ --db-driver= --events=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
end
