-- Errors that are ignored stand in the log of the highest verbosity.
-- servers: mariadb mysql
-- $ --events=1 --verbosity=5 --mysql-ignore-errors=1062,1146 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE once (id INT PRIMARY KEY)")
   attempts = 0
end

function event()
   attempts = attempts + 1
   if attempts == 1 then
      con:query("SELECT * FROM nowhere")
   elseif attempts == 2 then
      con:query("INSERT INTO once VALUES (1), (1)")
   end
end
