-- A result after it was freed.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local rs = con:query("SELECT 1")
   rs:free()
   print(pcall(rs.fetch_row, rs))
end
