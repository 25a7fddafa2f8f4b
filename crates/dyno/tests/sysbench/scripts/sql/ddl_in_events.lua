-- Tables come and go within events.
-- $ --events=3 run

function thread_init()
   con = sysbench.sql.driver():connect()
   events = 0
end

function event()
   events = events + 1
   local name = "t" .. events
   con:query("CREATE TABLE " .. name .. "(id INTEGER PRIMARY KEY, v VARCHAR(10))")
   con:query("INSERT INTO " .. name .. " VALUES (1, 'a'), (2, 'b')")
   con:query("ALTER TABLE " .. name .. " ADD w INTEGER")
   con:query("CREATE INDEX i" .. events .. " ON " .. name .. "(v)")
   con:query("UPDATE " .. name .. " SET w = id * " .. events)
   if events == 2 then
      con:query("DROP TABLE " .. name)
   end
end

function thread_done()
   con:disconnect()
end
