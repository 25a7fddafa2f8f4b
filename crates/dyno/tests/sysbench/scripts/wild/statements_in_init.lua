-- Tables that init() makes, because the script has no prepare().
-- $ --events=4 --threads=1 run

function init()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE made(id INTEGER PRIMARY KEY)")
   con:query("INSERT INTO made VALUES (1), (2)")
   con:query_row("SELECT COUNT(*) FROM made")
   con:disconnect()
end

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("UPDATE made SET id = id + 10 WHERE id < 0")
end

function done()
   sysbench.sql.driver():connect():query("DROP TABLE made")
end
