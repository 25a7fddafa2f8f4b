-- The same on PostgreSQL, where rows may come from a writing statement.
-- servers: postgres
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER)")
   con:query("INSERT INTO t VALUES (1, 1), (2, 2)")
   con:query("UPDATE t SET b = 5 WHERE a = 1")
   con:query("UPDATE t SET b = 5 WHERE a = 9")
   con:query("DELETE FROM t WHERE a = 9")
   con:query("SELECT * FROM t WHERE a = 9")
   con:query("EXPLAIN SELECT * FROM t")
   con:query("INSERT INTO t VALUES (3, 3) RETURNING a")
   con:query("BEGIN")
   con:query("SET work_mem = '8MB'")
   con:query("SHOW work_mem")
   con:query("CREATE TABLE u AS SELECT * FROM t")
   con:query("INSERT INTO u SELECT * FROM t ON CONFLICT DO NOTHING")
   con:query("COMMIT")
   con:query("VACUUM t")
   con:query("TRUNCATE TABLE u")
   con:disconnect()
end
