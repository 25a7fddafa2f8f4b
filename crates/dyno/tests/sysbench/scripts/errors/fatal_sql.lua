-- A fatal error of the server ends the run.
-- $ --events=3 --threads=1 run
-- $ prepare

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT 1")
   con:query("SELECT * FROM missing")
end

function thread_done()
   print("not called")
end

function prepare()
   sysbench.sql.driver():connect():query("INSERT INTO missing VALUES (1)")
end
