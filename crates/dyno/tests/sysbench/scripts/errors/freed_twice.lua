-- A result that is freed twice.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local rs = con:query("SELECT 1")
   rs:free()
   print(pcall(rs.free, rs))
   print(con:query_row("SELECT 2"))
end
