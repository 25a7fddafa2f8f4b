-- The server ends the session in the middle.
-- servers: mariadb mysql
-- $ --mysql-ignore-errors=1213 --events=2 --threads=1 run

function thread_init()
   drv = sysbench.sql.driver()
   con, other = drv:connect(), drv:connect()
end

function event()
   other:query("KILL " .. con:query_row("SELECT CONNECTION_ID()"))
   con:query("SELECT 1")
end
