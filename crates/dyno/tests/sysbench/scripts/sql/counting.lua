-- A statement with rows is a read; another one is a write when rows were affected, else other. The text does not matter.
-- servers: mariadb mysql
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER)") -- other
   con:query("INSERT INTO t VALUES (1, 1), (2, 2)") -- write
   con:query("UPDATE t SET b = 5 WHERE a = 1") -- write
   con:query("UPDATE t SET b = 5 WHERE a = 1") -- other: nothing changes
   con:query("UPDATE t SET b = 5 WHERE a = 9") -- other
   con:query("DELETE FROM t WHERE a = 9") -- other
   con:query("SELECT * FROM t WHERE a = 9") -- read
   con:query("EXPLAIN SELECT * FROM t") -- read
   con:query("SHOW TABLES") -- read
   con:query("BEGIN") -- other
   con:query("SET @x = 1") -- other
   con:query("SELECT 1 INTO @x") -- write: one row affected
   con:query("CREATE TABLE u AS SELECT * FROM t") -- write
   con:query("REPLACE INTO t VALUES (1, 6)") -- write
   con:query("COMMIT") -- other
   con:query("ANALYZE TABLE t") -- read
   con:query("DO 1") -- other
   con:query("TRUNCATE TABLE u") -- other
   con:disconnect()
end
