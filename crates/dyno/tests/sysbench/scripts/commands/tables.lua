-- A script with parallel commands that make and fill tables, and serial ones that look at them.
-- lines: any order
-- $ --threads=3 --tables=5 --rows=40 prepare
-- $ --threads=2 --tables=5 grow
-- $ --tables=5 verify
-- $ --threads=2 --tables=5 --events=30 run
-- $ --tables=5 cleanup
-- $ --threads=2 --tables=4 --rows=10 prepare
-- counters: random

sysbench.cmdline.options = {
   tables = {"Number of tables", 2},
   rows = {"Rows per table", 10},
   prefix = {"Name of the tables", "demo"},
}

local function each_own_table(work)
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for i = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
      work(drv, con, sysbench.opt.prefix .. i)
   end
   con:disconnect()
end

function cmd_prepare()
   each_own_table(function(drv, con, name)
      io.write("creating " .. name .. "\n")
      local id = drv:name() == "mysql" and "INTEGER NOT NULL AUTO_INCREMENT" or "SERIAL"
      con:query(("CREATE TABLE %s(id %s, n INTEGER NOT NULL, PRIMARY KEY (id))"):format(name, id))
      con:bulk_insert_init(("INSERT INTO %s (n) VALUES"):format(name))
      for n = 1, sysbench.opt.rows do
         con:bulk_insert_next(("(%d)"):format(n * n))
      end
      con:bulk_insert_done()
   end)
end

local function cmd_grow()
   each_own_table(function(_, con, name)
      con:query("INSERT INTO " .. name .. " (n) SELECT n FROM " .. name)
   end)
end

local function cmd_verify()
   local con = sysbench.sql.driver():connect()
   for i = 1, sysbench.opt.tables do
      local count, sum = con:query_row("SELECT COUNT(*), SUM(n) FROM " .. sysbench.opt.prefix .. i)
      print(i, count, sum)
   end
   return true
end

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   grow = {cmd_grow, sysbench.cmdline.PARALLEL_COMMAND},
   verify = {cmd_verify},
}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt = {}
   for i = 1, sysbench.opt.tables do
      local select = con:prepare("SELECT n FROM " .. sysbench.opt.prefix .. i .. " WHERE id = ?")
      local id = select:bind_create(sysbench.sql.type.INT)
      select:bind_param(id)
      stmt[i] = {select = select, id = id}
   end
end

function event(thread_id)
   local one = stmt[sysbench.rand.uniform(1, #stmt)]
   one.id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
   one.select:execute()
end

function thread_done()
   for _, one in ipairs(stmt) do
      one.select:close()
   end
   con:disconnect()
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   for i = 1, sysbench.opt.tables do
      print("dropping " .. sysbench.opt.prefix .. i)
      con:query("DROP TABLE IF EXISTS " .. sysbench.opt.prefix .. i)
   end
end
