-- Several connections of one thread, each with its own transaction and statements.
-- $ --events=2 run

function thread_init()
   drv = sysbench.sql.driver()
   first, second, third = drv:connect(), drv:connect(), drv:connect()
   first:query("CREATE TABLE t(id INTEGER, who VARCHAR(10))")
   insert = {}
   for name, con in pairs({first = first, second = second}) do
      insert[name] = con:prepare("INSERT INTO t VALUES (?, '" .. name .. "')")
      insert[name .. "_id"] = insert[name]:bind_create(sysbench.sql.type.INT)
      insert[name]:bind_param(insert[name .. "_id"])
   end
   events = 0
end

function event()
   events = events + 1
   first:query("BEGIN")
   second:query("BEGIN")
   insert.first_id:set(events)
   insert.second_id:set(events + 100)
   insert.first:execute()
   insert.second:execute()
   print(third:query_row("SELECT COUNT(*) FROM t"))
   first:query("COMMIT")
   print(third:query_row("SELECT COUNT(*) FROM t"))
   second:query("ROLLBACK")
   print(third:query_row("SELECT COUNT(*) FROM t"))
end

function thread_done()
   first:disconnect()
   print(third:query_row("SELECT MAX(id) FROM t"))
   second:disconnect()
   third:disconnect()
end
