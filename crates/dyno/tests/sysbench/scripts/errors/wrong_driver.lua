-- A driver that is not there.
-- servers: none
-- $ --db-driver=oracle --events=1 --threads=1 run

function event()
   sysbench.sql.driver():connect()
end
