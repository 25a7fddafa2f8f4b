-- Question marks become the server's placeholders, casts included.
-- servers: postgres
-- $ --events=2 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id UUID, n INTEGER, d DATE)")
   stmt = con:prepare("INSERT INTO t VALUES (CAST(? AS UUID), ? + 1, CAST(? AS DATE))")
   id = stmt:bind_create(sysbench.sql.type.VARCHAR, 36)
   n = stmt:bind_create(sysbench.sql.type.INT)
   day = stmt:bind_create(sysbench.sql.type.CHAR, 10)
   stmt:bind_param(id, n, day)
end

function event()
   id:set("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
   n:set(41)
   day:set("2020-02-29")
   stmt:execute()
end

function thread_done()
   stmt:close()
   con:disconnect()
end
