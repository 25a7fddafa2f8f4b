-- The fields of the result that a statement without rows does not have.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local rs = con:query("CREATE TABLE t(a INTEGER)")
   print(rs.nrows)
end
