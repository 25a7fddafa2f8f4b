-- Hooks with a connection of their own: errors are judged, restarts written into a journal, another connection lets go.
-- $ prepare
-- $ --events=5 --threads=1 run

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE counter(id INTEGER PRIMARY KEY, value INTEGER)")
   con:query("CREATE TABLE journal(event INTEGER, state VARCHAR(10), query VARCHAR(100), code INTEGER)")
   con:query("INSERT INTO counter VALUES (1, 0), (2, 0)")
end

function thread_init()
   local drv = sysbench.sql.driver()
   con, log = drv:connect(), drv:connect()
   events, attempts, judged = 0, 0, 0
end

function event()
   if attempts == 0 then
      events = events + 1
   end
   attempts = attempts + 1
   con:query("BEGIN")
   con:query("UPDATE counter SET value = value + 1 WHERE id = 1")
   if events % 2 == 0 and attempts <= 2 then
      -- Not among the errors that are ignored by themselves, on any driver.
      con:query("INSERT INTO missing_table VALUES (" .. events .. ")")
   end
   con:query("COMMIT")
   attempts = 0
end

function sysbench.hooks.sql_error_ignorable(err)
   judged = judged + 1
   return err.query:find("missing_table") ~= nil and (err.sql_state == "42S02" or err.sql_state == "42P01")
end

function sysbench.hooks.before_restart_event(err)
   assert(err.connection == con and err.errcode == sysbench.error.RESTART_EVENT)
   con:query("ROLLBACK")
   log:query(("INSERT INTO journal VALUES (%d, '%s', '%s', %d)"):format(events, err.sql_state, err.query:gsub("'", "''"), err.sql_errno))
end

function thread_done()
   print(events, judged, con:query_row("SELECT value FROM counter WHERE id = 1"))
   print(log:query_row("SELECT COUNT(*), MIN(event), MAX(event), MIN(state), MIN(query) FROM journal"))
   log:disconnect()
   con:disconnect()
end
