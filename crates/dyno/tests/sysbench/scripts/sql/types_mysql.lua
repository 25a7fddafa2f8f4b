-- Values of all types as texts: decimals, dates, bits, sets, enums, floats, geometry, year, null.
-- servers: mariadb mysql
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query([[CREATE TABLE ty (i TINYINT, u BIGINT UNSIGNED, d DECIMAL(20,5), f FLOAT, g DOUBLE, b BIT(8), e ENUM('a','b'), s SET('x','y'),
      dt DATE, tm TIME, ts DATETIME(3), y YEAR, bl BLOB, tx TEXT, p POINT, z INT ZEROFILL)]])
   con:query([[INSERT INTO ty VALUES (-128, 18446744073709551615, 12345.67891, 1.5, 1e100, b'1010', 'b', 'x,y', '2024-02-29', '-12:34:56', '2024-02-29 01:02:03.456', 2024,
      x'0001ff', 'text', ST_GeomFromText('POINT(1 2)'), 42)]])
   con:query("INSERT INTO ty VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
   local rs = con:query("SELECT * FROM ty ORDER BY i DESC")
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      for j = 1, rs.nfields do
         local v = row[j]
         print(i, j, type(v), v and (v:gsub("[^%w%p ]", function(c) return "\\" .. c:byte() end)))
      end
   end
   print(con:query_row("SELECT 1.0, 1e0, 0.1 + 0.2, 10 / 4, TRUE, NOW() IS NOT NULL, -0.0, 1 / 0, CAST(5 AS CHAR), x'41', 'é'"))
end
