-- Values of all types as texts on PostgreSQL.
-- servers: postgres
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local rs = con:query([[SELECT 1::smallint, 9223372036854775807::bigint, 1.50::numeric(10,2), 1.5::real, 0.1::float8, true, 'x'::char(3), 'y'::varchar, DATE '2024-02-29', TIME '12:34:56.5',
      TIMESTAMP '2024-02-29 01:02:03', INTERVAL '1 day 2 hours', ARRAY[1,2,NULL], '{"a": 1}'::json, '{"a":1}'::jsonb, '\x00ff'::bytea, '127.0.0.1'::inet, point(1,2), int4range(1,5), NULL, 'NaN'::float8, 'infinity'::float8, B'101', ROW(1,'a'), '(1,2)'::point, 12.34::money, to_tsvector('a b'), now() IS NULL, 'é']])
   local row = rs:fetch_row()
   for j = 1, rs.nfields do print(j, type(row[j]), row[j]) end
end
