-- A statement that the server does not understand.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("SELEC 1")
end
