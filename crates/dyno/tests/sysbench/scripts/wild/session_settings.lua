-- In the manner of scripts for clusters: settings of the session, SHOW and EXPLAIN, comments before statements, waits.
-- servers: mariadb mysql
-- $ --events=3 --threads=1 run
-- $ --events=3 --threads=1 --mysql-ignore-errors=1146,1062 run
-- $ --events=3 --threads=1 --mysql-ignore-errors=all --limit=2 run

sysbench.cmdline.options = {limit = {"Restarts before the table is made", 1}}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   con:query("DROP TABLE IF EXISTS late")
   con:query("SET SESSION sql_mode = 'ANSI_QUOTES'")
   con:query("SET @@session.lock_wait_timeout = 2, @mine = 5")
   con:query("/* a comment */ SET autocommit = 0")
   events, restarts = 0, 0
end

local function variable(name)
   local rs = con:query("SHOW SESSION VARIABLES LIKE '" .. name .. "'")
   for _ = 1, rs.nrows do
      local row = rs:fetch_row()
      if row[1] == name then
         return row[2]
      end
   end
end

function event()
   events = events + 1
   local plan = con:query("EXPLAIN SELECT 1")
   print(events, variable("lock_wait_timeout"), variable("sql_mode"), variable("autocommit"), plan.nrows, con:query_row("SELECT @mine + 1"))
   con:query("DO SLEEP(0)")
   if events == 2 then
      con:query("INSERT INTO late VALUES (1)")
      con:query("commit")
   end
end

function sysbench.hooks.before_restart_event(err)
   restarts = restarts + 1
   events = events - 1
   print("restart", err.sql_errno, err.sql_state, err.query, err.sql_errmsg)
   if restarts >= sysbench.opt.limit then
      con:query("CREATE TABLE late(id INTEGER)")
   end
end

function thread_done()
   print("restarts", restarts)
   con:query("SET autocommit = 1")
   con:disconnect()
end
