-- Arguments of the wrong type.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   print((pcall(con.query, con, nil)))
   print((pcall(con.query, con, {})))
   print((pcall(con.prepare, con, nil)))
   print((pcall(con.bulk_insert_init, con, nil)))
   print((pcall(con.query)))
   print(con:query_row("SELECT 1"))
end
