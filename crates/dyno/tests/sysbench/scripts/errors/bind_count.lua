-- Fewer parameters are bound than the statement has.
-- servers: mariadb mysql
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local stmt = con:prepare("SELECT ?, ?")
   stmt:bind_param(stmt:bind_create(sysbench.sql.type.INT))
   print("bound")
end
