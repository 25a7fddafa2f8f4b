-- A connection that is closed and opened again, with its statements prepared anew.
-- $ --events=4 --threads=1 run

function open()
   con = drv:connect()
   stmt = con:prepare("INSERT INTO t VALUES (?)")
   value = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(value)
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   con:query("CREATE TABLE t(a INTEGER)")
   con:disconnect()
   open()
   events = 0
end

function event()
   events = events + 1
   value:set(events)
   stmt:execute()
   stmt:close()
   con:disconnect()
   open()
end

function thread_done()
   stmt:close()
   con:disconnect()
end
