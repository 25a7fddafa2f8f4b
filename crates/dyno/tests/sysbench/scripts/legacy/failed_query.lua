-- A query that fails raises "db_query() failed".
-- $ --events=1 --num-threads=1 run

function event()
   db_query("SELECT * FROM missing")
end
