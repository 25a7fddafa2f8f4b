-- One thread speaks to two kinds of servers at once.
-- servers: postgres
-- with: mariadb
-- $ --events=2 run

function thread_init()
   local mysql, pgsql = sysbench.sql.driver("mysql"), sysbench.sql.driver("pgsql")
   print(mysql:name(), pgsql:name(), sysbench.sql.driver():name())
   source, sink = mysql:connect(), pgsql:connect()
   sink:query("CREATE TABLE t(id INTEGER)")
end

function event()
   local value = source:query_row("SELECT 40 + 2")
   sink:query("INSERT INTO t VALUES (" .. value .. ")")
end

function thread_done()
   print(sink:query_row("SELECT COUNT(*), MIN(id) FROM t"))
   source:disconnect()
   sink:disconnect()
end
