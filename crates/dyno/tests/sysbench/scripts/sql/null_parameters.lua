-- A parameter set to nil is NULL, and may have a value afterwards.
-- servers: mariadb mysql
-- $ --events=1 run

local types = sysbench.sql.type

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(n INTEGER, a INTEGER, b VARCHAR(10))")
   local stmt = con:prepare("INSERT INTO t VALUES (?, ?, ?)")
   local n, a, b = stmt:bind_create(types.INT), stmt:bind_create(types.INT), stmt:bind_create(types.VARCHAR, 10)
   stmt:bind_param(n, a, b)
   for i, values in ipairs({{1, "x"}, {nil, "y"}, {3, nil}, {nil, nil}, {5, "z"}}) do
      n:set(i)
      a:set(values[1])
      b:set(values[2])
      stmt:execute()
   end
   stmt:close()
   con:disconnect()
end
