-- set_rand_str fills a parameter by a format: # is a digit, @ a letter.
-- rows: random
-- $ --events=5 run

local types = sysbench.sql.type

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a VARCHAR(20), b VARCHAR(5))")
   stmt = con:prepare("INSERT INTO t VALUES (?, ?)")
   a, b = stmt:bind_create(types.VARCHAR, 20), stmt:bind_create(types.CHAR, 5)
   stmt:bind_param(a, b)
end

function event()
   a:set_rand_str("id-####-@@@@")
   b:set_rand_str("@@@@@")
   stmt:execute()
end

function thread_done()
   local row = {con:query_row("SELECT a, b FROM t")}
   print(row[1]:match("^id%-%d%d%d%d%-%l%l%l%l$") ~= nil, row[2]:match("^%l%l%l%l%l$") ~= nil)
   stmt:close()
   con:disconnect()
end
