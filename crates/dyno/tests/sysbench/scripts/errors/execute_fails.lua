-- A prepared statement that the server refuses when it is executed.
-- servers: postgres
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local statement = con:prepare("SELECT 1 / CAST(? AS INTEGER)")
   local number = statement:bind_create(sysbench.sql.type.INT)
   statement:bind_param(number)
   number:set(0)
   statement:execute()
end
