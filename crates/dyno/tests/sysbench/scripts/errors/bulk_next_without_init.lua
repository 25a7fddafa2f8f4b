-- A row of a bulk insert that was not begun.
-- $ --events=1 --threads=1 run
-- $ prepare

function event()
   local con = sysbench.sql.driver():connect()
   con:bulk_insert_next("(1)")
end

function prepare()
   local con = sysbench.sql.driver():connect()
   con:bulk_insert_done()
   print("done without init")
   con:bulk_insert_next("(1)")
end
