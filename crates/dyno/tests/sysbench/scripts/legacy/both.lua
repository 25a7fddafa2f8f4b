-- A script of both eras: new connections, old random functions, no option table.
-- $ --rows=20 prepare
-- $ --rows=20 --events=10 --threads=1 run

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(a INTEGER, b CHAR(8))")
   for a = 1, tonumber(rows) do
      con:query(("INSERT INTO t VALUES (%d, '%s')"):format(a, ("x"):rep(a % 8)))
   end
end

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   con:query("SELECT b FROM t WHERE a = " .. sb_rand(1, tonumber(rows)))
end

function thread_done()
   con:disconnect()
end
