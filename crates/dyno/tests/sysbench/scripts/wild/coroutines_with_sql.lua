-- Coroutines around statements: a generator of rows, sessions that take turns, an error that crosses them.
-- $ --events=4 --threads=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE queue(id INTEGER PRIMARY KEY, state VARCHAR(10))")
   con:query("INSERT INTO queue VALUES (1, 'new'), (2, 'new'), (3, 'new')")
   round = 0
end

local function rows(sql)
   return coroutine.wrap(function()
      local rs = con:query(sql)
      for _ = 1, rs.nrows do
         local row = rs:fetch_row()
         coroutine.yield(unpack(row, 1, rs.nfields))
      end
   end)
end

local function session(id)
   return coroutine.create(function()
      con:query("UPDATE queue SET state = 'taken' WHERE id = " .. id)
      coroutine.yield("taken")
      if round == 3 and id == 2 then
         con:query("SELECT * FROM nowhere")
      end
      con:query("UPDATE queue SET state = 'round " .. round .. "' WHERE id = " .. id)
      return "done"
   end)
end

function event()
   round = round + 1
   local sessions = {session(1), session(2)}
   for step = 1, 3 do
      for id, each in ipairs(sessions) do
         local ok, what = coroutine.resume(each)
         print(round, step, id, ok, tostring(what):match("errno = %d+, state = '%w+'") or what, coroutine.status(each))
      end
   end
   for id, state in rows("SELECT id, state FROM queue ORDER BY id") do
      print(id, state)
   end
end
