-- The tables of the OLTP scripts: create, fill, warm up, drop. A separate module that oltp_common
-- loads on first use, because the threads of a run do not need it.

local default = sysbench.rand.default
local tables = {}

-- Column types and clauses that differ between databases. %s is the storage engine.
local dialects = {
   mysql = {key = "INTEGER NOT NULL AUTO_INCREMENT", suffix = "/*! ENGINE = %s */", has_inline_index = true},
   pgsql = {key = "SERIAL", suffix = ""},
   redshift = {key = "INTEGER IDENTITY(1, 1)", suffix = ""},
   sqlite = {key = "INTEGER NOT NULL", suffix = ""},
}

local function is_redshift()
   return sysbench.opt.pgsql_variant == "redshift"
end

local function dialect_of(drv)
   local name = drv:name() == "pgsql" and is_redshift() and "redshift" or drv:name()
   return dialects[name] or error("there is no schema for the database driver '" .. name .. "'")
end

-- Creates one table, fills it, and creates its index.
function tables.create_table(drv, con, table_num)
   local opt, dialect = sysbench.opt, dialect_of(drv)
   local name = "sbtest" .. table_num
   local key = "PRIMARY KEY (id)"
   assert(drv:name() ~= "sqlite" or not (opt.secondary and opt.auto_inc),
      "SQLite numbers rows by their primary key only: --secondary needs --auto_inc=off")
   if opt.secondary then
      key = dialect.has_inline_index and "KEY xid (id)" or nil
   end

   print(("Creating table '%s'..."):format(name))
   con:query(("CREATE TABLE %s(\n  %s\n) %s %s"):format(name, table.concat({
      "id " .. (opt.auto_inc and dialect.key or "INTEGER NOT NULL"),
      "k INTEGER DEFAULT '0' NOT NULL",
      "c CHAR(120) DEFAULT '' NOT NULL",
      "pad CHAR(60) DEFAULT '' NOT NULL",
      key,
   }, ",\n  "), dialect.suffix:format(opt.mysql_storage_engine), opt.create_table_options))

   if opt.table_size > 0 then
      print(("Inserting %d records into '%s'"):format(opt.table_size, name))
   end
   con:bulk_insert_init("INSERT INTO " .. name .. (opt.auto_inc and "(k, c, pad) VALUES" or "(id, k, c, pad) VALUES"))
   for id = 1, opt.table_size do
      local k, c, pad = default(1, opt.table_size), get_c_value(), get_pad_value()
      if opt.auto_inc then
         con:bulk_insert_next(("(%d, '%s', '%s')"):format(k, c, pad))
      else
         con:bulk_insert_next(("(%d, %d, '%s', '%s')"):format(id, k, c, pad))
      end
   end
   con:bulk_insert_done()

   if is_redshift() then
      return
   end
   if opt.secondary and not key then
      con:query(("CREATE INDEX xid_%d ON %s(id)"):format(table_num, name))
   end
   if opt.create_secondary then
      print(("Creating a secondary index on '%s'..."):format(name))
      con:query(("CREATE INDEX k_%d ON %s(k)"):format(table_num, name))
   end
end

-- Iterates over the numbers of this thread's tables.
local function own_tables()
   local number = sysbench.tid % sysbench.opt.threads + 1 - sysbench.opt.threads
   return function()
      number = number + sysbench.opt.threads
      return number <= sysbench.opt.tables and number or nil
   end
end

function tables.cmd_prepare()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for number in own_tables() do
      create_table(drv, con, number)
   end
   con:disconnect()
end

-- Loads the tables into memory. The derived tables need memory there too.
function tables.cmd_warmup()
   local drv = sysbench.sql.driver()
   assert(drv:name() == "mysql", sysbench.cmdline.command .. " is currently MySQL only")
   local con, rows = drv:connect(), sysbench.opt.table_size
   con:query("SET tmp_table_size=2*1024*1024*1024")
   con:query("SET max_heap_table_size=2*1024*1024*1024")
   for number in own_tables() do
      local name = "sbtest" .. number
      print("Prewarming table " .. name)
      con:query("ANALYZE TABLE " .. name)
      con:query(("SELECT AVG(id) FROM (SELECT * FROM %s FORCE KEY (PRIMARY) LIMIT %d) t"):format(name, rows))
      con:query(("SELECT COUNT(*) FROM (SELECT * FROM %s WHERE k LIKE '%%0%%' LIMIT %d) t"):format(name, rows))
   end
   con:disconnect()
end

function tables.cleanup()
   local con = sysbench.sql.driver():connect()
   for number = 1, sysbench.opt.tables do
      print(("Dropping table 'sbtest%d'..."):format(number))
      con:query("DROP TABLE IF EXISTS sbtest" .. number)
   end
end

return tables
