-- The database is not there.
-- $ --mysql-db=nowhere --pgsql-db=nowhere --events=1 --threads=1 run

function event()
   sysbench.sql.driver():connect()
end
