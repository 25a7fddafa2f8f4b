-- With --db-ps-mode=disable parameters are written into the text.
-- $ --db-ps-mode=disable --events=2 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER, b VARCHAR(10))")
   stmt = con:prepare("INSERT INTO t VALUES (?, ?)")
   a, b = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.VARCHAR, 10)
   stmt:bind_param(a, b)
   events = 0
end

function event()
   events = events + 1
   a:set(events)
   b:set("text " .. events)
   stmt:execute()
end

function thread_done()
   con:disconnect()
end
