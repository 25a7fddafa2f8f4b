-- A query after disconnect().
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:disconnect()
   con:query("SELECT 1")
end
