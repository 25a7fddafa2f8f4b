-- No server listens.
-- servers: none
-- $ --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=1 --events=1 --threads=1 run
-- $ --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=1 --events=1 --threads=1 run
-- $ --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=1 prepare

function thread_init()
   sysbench.sql.driver():connect()
end

function prepare()
   sysbench.sql.driver():connect()
end

function event()
end
