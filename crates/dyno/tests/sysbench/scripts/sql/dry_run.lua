-- A dry run succeeds without a server; every statement counts as other.
-- servers: none
-- $ --mysql-dry-run --events=3 run
-- $ --mysql-dry-run prepare

function prepare()
   local con = sysbench.sql.driver("mysql"):connect()
   print(con:query("CREATE TABLE t(a INTEGER)") == nil)
   con:disconnect()
end

function thread_init()
   con = sysbench.sql.driver("mysql"):connect()
   stmt = con:prepare("SELECT ?")
   a = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(a)
end

function event()
   a:set(1)
   stmt:execute()
   con:query("SELECT 1")
end

function thread_done()
   stmt:close()
   con:disconnect()
end
