-- A statement that cannot be prepared.
-- $ --events=1 --threads=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
   stmt = con:prepare("SELECT * FROM missing WHERE a = ?")
   print("not reached on MySQL")
end

function event()
   stmt:execute()
end
