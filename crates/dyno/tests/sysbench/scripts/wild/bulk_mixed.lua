-- Multi-row inserts: in parallel commands, several open ones at the same time, in transactions, with errors, beside queries.
-- $ prepare
-- $ --events=2 --threads=1 run

function prepare()
   local drv = sysbench.sql.driver()
   local one, two = drv:connect(), drv:connect()
   one:query("CREATE TABLE b1(id INTEGER, t VARCHAR(40))")
   one:query("CREATE TABLE b2(id INTEGER PRIMARY KEY, t VARCHAR(40))")
   one:bulk_insert_init("INSERT INTO b1(id, t) VALUES ")
   two:bulk_insert_init("INSERT INTO b2(id, t) VALUES\n")
   for i = 1, 500 do
      one:bulk_insert_next(string.format("(%d, '%s')", i, ("x"):rep(i % 40)))
      two:bulk_insert_next("(" .. i .. ", NULL)")
   end
   one:bulk_insert_done()
   two:bulk_insert_done()
   one:query("BEGIN")
   one:bulk_insert_init("INSERT INTO b1 VALUES")
   one:bulk_insert_next("(1001, 'in a transaction')")
   one:bulk_insert_done()
   one:query("ROLLBACK")
   print(one:query_row("SELECT COUNT(*), MAX(id) FROM b1"))
   print(two:query_row("SELECT COUNT(*), MAX(id) FROM b2"))
end

function thread_init()
   con = sysbench.sql.driver():connect()
   n = 0
end

function event()
   n = n + 1
   con:bulk_insert_init("INSERT INTO b2(id, t) VALUES")
   con:bulk_insert_next("(1, 'twice')")
   local ok, err = pcall(con.bulk_insert_done, con)
   print(ok, type(err))
   con:bulk_insert_init("INSERT INTO b1(id, t) VALUES")
   con:bulk_insert_next("(" .. n + 2000 .. ", 'after')")
   con:query("SELECT 1")
   con:bulk_insert_next("(" .. n + 3000 .. ", 'after')")
   con:bulk_insert_done()
   con:bulk_insert_init("INSERT INTO b1(id, t) VALUES")
   con:bulk_insert_next("(" .. n + 4000 .. ", 'lost')")
   con:bulk_insert_init("INSERT INTO b1(id, t) VALUES")
   con:bulk_insert_next("(" .. n + 5000 .. ", 'kept')")
   con:bulk_insert_done()
   print(con:query_row("SELECT COUNT(*), MAX(id) FROM b1"))
end
