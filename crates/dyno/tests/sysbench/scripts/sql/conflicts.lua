-- Certification failures of clusters, as their scripts meet them: a list of errors, a hook, and rollback in between.
-- servers: mariadb mysql
-- counters: random
-- $ prepare
-- $ --mysql-ignore-errors=1213,1020,1205,1062 --events=6 --threads=1 run

local attempts = {}

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER)")
   con:query("INSERT INTO t VALUES (3, 0), (5, 0)")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   number = 1
end

function sysbench.hooks.before_restart_event(failure)
   print("again", failure.sql_errno, failure.sql_state, failure.sql_errmsg:match("Duplicate entry '%d'"))
   con:query("ROLLBACK")
   number = number + 1
end

function event()
   con:query("BEGIN")
   con:query("INSERT INTO t VALUES (" .. number .. ", " .. number * number .. ")")
   con:query("COMMIT")
   number = number + 1
end

function thread_done()
   print("last", number)
   con:disconnect()
end
