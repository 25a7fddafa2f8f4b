-- Values of all types are texts, as the server writes them.
-- servers: postgres
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query([[
      CREATE TABLE t(small SMALLINT, big BIGINT, num NUMERIC(10,3), r REAL, d DOUBLE PRECISION, day DATE, at TIMESTAMP,
         yes BOOLEAN, bytes BYTEA, js JSONB, id UUID, items INTEGER[], c CHAR(5), txt TEXT)]])
   con:query([[
      INSERT INTO t VALUES (-1, 9223372036854775807, 12.5, 1.5, 0.1, '2020-02-29', '2020-02-29 12:00:00.123', TRUE,
         '\x00ff41', '{"a": [1, 2]}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{1,2,3}', 'ab', 'text with ''quotes''')]])
   print(con:query_row("SELECT * FROM t"))
   print(con:query_row("SELECT 1 + 1, 1 / 3, 1.0 / 3, 1e10, 'a' || 'b', NULL, TRUE, INTERVAL '1 day'"))
   print(con:query_row("SELECT COUNT(*), SUM(small), AVG(big), MAX(day) FROM t"))
   con:disconnect()
end
