-- query_row gives the columns of the first row as several values, and nil for no row.
-- $ --events=1 run

function event()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER, b VARCHAR(10), c INTEGER)")
   con:query("INSERT INTO t VALUES (1, 'x', NULL), (2, 'y', 5)")
   print(con:query_row("SELECT a, b, c FROM t ORDER BY a"))
   print(con:query_row("SELECT c, b, a FROM t ORDER BY a"))
   print(con:query_row("SELECT a FROM t WHERE a = 77"))
   print(select("#", con:query_row("SELECT a, b, c FROM t ORDER BY a DESC")))
   local a, c = con:query_row("SELECT a, c FROM t WHERE a = 2")
   print(a + c, a * 1.5, ("%d"):format(c), tonumber(a), math.max(a, 1.0))
   print(con:query_row("SELECT COUNT(*) FROM t") + 0)
   con:disconnect()
end
