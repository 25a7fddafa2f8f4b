-- disconnect() twice.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:disconnect()
   print(pcall(con.disconnect, con))
end
