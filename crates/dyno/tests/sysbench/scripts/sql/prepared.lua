-- Prepared statements with parameters of all types; their effect is in the table.
-- $ --events=3 run

local types = sysbench.sql.type

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   con:query("CREATE TABLE t(id BIGINT, tiny INTEGER, short VARCHAR(5), word VARCHAR(40), missing VARCHAR(5))")
   stmt = con:prepare("INSERT INTO t (id, tiny, short, word, missing) VALUES (?, ?, ?, ?, ?)")
   id = stmt:bind_create(types.BIGINT)
   tiny = stmt:bind_create(types.TINYINT)
   short = stmt:bind_create(types.CHAR, 5)
   word = stmt:bind_create(types.VARCHAR, 40)
   missing = stmt:bind_create(types.VARCHAR, 5)
   print(stmt:bind_param(id, tiny, short, word, missing))
   updates = con:prepare("UPDATE t SET tiny = tiny + ? WHERE id = ?")
   by = {updates:bind_create(types.INT), updates:bind_create(types.INT)}
   updates:bind_param(unpack(by))
   events = 0
end

function event()
   events = events + 1
   id:set(events * 2 ^ 33)
   tiny:set(7.9)
   short:set("longer than five")
   word:set("it's " .. events)
   print(stmt:execute() == nil)
   by[1]:set(events)
   by[2]:set(events * 2 ^ 33)
   updates:execute()
   by[2]:set(-1)
   updates:execute()
end

function thread_done()
   stmt:close()
   updates:close()
   con:disconnect()
end
