-- A prepared SELECT says how many rows it has.
-- servers: mariadb mysql
-- $ --events=1 run

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER)")
   con:query("INSERT INTO t VALUES (1), (2), (3)")
   local stmt = con:prepare("SELECT a FROM t WHERE a < ?")
   local limit = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(limit)
   limit:set(3)
   local rs = stmt:execute()
   print(rs ~= nil, rs.nrows, rs.nfields)
   stmt:close()
   con:disconnect()
end
