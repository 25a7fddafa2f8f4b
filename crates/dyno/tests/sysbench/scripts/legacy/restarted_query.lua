-- An ignorable error restarts the event.
-- servers: mariadb mysql
-- $ --mysql-ignore-errors=1146 --events=2 --num-threads=1 run

attempts = 0

function event()
   attempts = attempts + 1
   if attempts % 2 == 1 then
      db_query("SELECT * FROM missing")
   end
   db_query("SELECT 1")
end

function thread_done()
   print("attempts", attempts)
end
