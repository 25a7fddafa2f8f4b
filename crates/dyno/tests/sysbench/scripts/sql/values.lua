-- Values of all types are texts, as the server writes them.
-- servers: mariadb mysql
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query([[
      CREATE TABLE t(tiny TINYINT, big BIGINT UNSIGNED, deci DECIMAL(10,3), flo FLOAT, dbl DOUBLE, day DATE,
         at DATETIME(3), stamp TIME, y YEAR, bits BIT(8), bin VARBINARY(8), txt TEXT, en ENUM('a','b'), st SET('x','y'))]])
   con:query([[
      INSERT INTO t VALUES (-1, 18446744073709551615, 12.5, 1.5, 0.1, '2020-02-29', '2020-02-29 12:00:00.123', '-10:11:12',
         1999, b'01000001', 'raw', 'text with ''quotes''', 'b', 'x,y')]])
   print(con:query_row("SELECT * FROM t"))
   print(con:query_row("SELECT 1 + 1, 1 / 3, 1e10, 'a' 'b', NULL, TRUE, 10.0, -5 % 3"))
   print(con:query_row("SELECT COUNT(*), SUM(tiny), AVG(big > 0), MAX(day) FROM t"))
   con:disconnect()
end
