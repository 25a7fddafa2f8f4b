-- The report at the end, with SQL.
-- $ --events=10 --threads=2 run
-- $ --events=10 --threads=1 --percentile=99 run
-- $ --events=5 --threads=1 --percentile=0 run
-- $ --events=2 --threads=1 --verbosity=2 run

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT 1")
end

function thread_done()
   con:disconnect()
end
