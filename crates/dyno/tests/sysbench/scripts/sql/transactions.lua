-- Isolation between threads is the server's: increments under a lock add up.
-- $ prepare
-- $ --events=60 --threads=4 run
-- counters: random

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE counter(id INTEGER PRIMARY KEY, n INTEGER)")
   con:query("INSERT INTO counter VALUES (1, 0)")
end

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("BEGIN")
   local n = con:query_row("SELECT n FROM counter WHERE id = 1 FOR UPDATE")
   con:query("UPDATE counter SET n = " .. n + 1 .. " WHERE id = 1")
   con:query("COMMIT")
end

function thread_done()
   con:disconnect()
end
