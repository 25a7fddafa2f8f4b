-- Tables, options and commands of the family.
ffi.cdef("int usleep(unsigned int microseconds);")

sysbench.cmdline.options = {
   scale = {"Number of warehouses", 1},
   items = {"Number of items", "100"},
   use_fk = {"Use foreign keys", 1},
   trx_level = {"Isolation level (RC, RR or SER)", "RR"},
   enable_purge = {"Delete old orders", "no"},
   report_csv = {"Report in CSV", "no"},
   force_pk = {"A primary key for every table", 0},
   mysql_storage_engine = {"Storage engine", "innodb"},
   mysql_table_options = {"Extra table options", ""},
}

function next_number(low, high)
   seed = (seed * 1103 + 12345) % 65536
   return low + seed % (high - low + 1)
end

function set_isolation_level(drv, con)
   local names = {RC = "READ COMMITTED", RR = "REPEATABLE READ", SER = "SERIALIZABLE"}
   local name = names[sysbench.opt.trx_level] or "REPEATABLE READ"
   if drv:name() == "mysql" then
      con:query("SET SESSION TRANSACTION ISOLATION LEVEL " .. name)
   elseif drv:name() == "pgsql" then
      con:query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " .. name)
   end
end

local function create_tables(drv, con, number)
   local extra = drv:name() == "mysql"
      and " /*! ENGINE = " .. sysbench.opt.mysql_storage_engine .. " */ " .. sysbench.opt.mysql_table_options or ""
   con:query(string.format([[
      CREATE TABLE warehouse%d (
         w_id SMALLINT NOT NULL, w_name VARCHAR(10), w_ytd DECIMAL(12,2), PRIMARY KEY (w_id)
      )%s]], number, extra))
   con:query("CREATE TABLE stock" .. number .. [[ (
         s_i_id INT NOT NULL, s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_data VARCHAR(50),
         PRIMARY KEY (s_w_id, s_i_id))]] .. extra)
   con:query("CREATE TABLE orders" .. number .. [[ (
         o_id INT NOT NULL, o_w_id SMALLINT NOT NULL, o_entry VARCHAR(30), o_carrier SMALLINT,
         PRIMARY KEY (o_w_id, o_id))]] .. extra)
   con:query("CREATE INDEX idx_orders" .. number .. " ON orders" .. number .. " (o_w_id, o_carrier, o_id)")
   if sysbench.opt.use_fk == 1 then
      con:query(("ALTER TABLE stock%d ADD CONSTRAINT fk_stock%d FOREIGN KEY (s_w_id) REFERENCES warehouse%d (w_id)")
         :format(number, number, number))
   end
end

local function load_tables(con, number)
   con:query("BEGIN")
   con:query(("INSERT INTO warehouse%d (w_id, w_name, w_ytd) VALUES (1, 'name-%02d', 300000)"):format(number, number))
   con:bulk_insert_init("INSERT INTO stock" .. number .. " (s_i_id, s_w_id, s_quantity, s_data) values")
   for i = 1, sysbench.opt.items do
      con:bulk_insert_next(string.format("(%d, 1, %d, '%s')", i, 10 + i % 90, ("x"):rep(i % 26)))
   end
   con:bulk_insert_done()
   con:query("COMMIT")
end

function cmd_load()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for number = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.scale, sysbench.opt.threads do
      io.write(("Creating tables: %d\n"):format(number))
      create_tables(drv, con, number)
      load_tables(con, number)
   end
   ffi.C.usleep(1000)
end

function cmd_check()
   local con = sysbench.sql.driver():connect()
   local is_right = true
   for number = 1, sysbench.opt.scale do
      local rs = con:query("SELECT COUNT(*), SUM(s_quantity) FROM stock" .. number)
      for i = 1, rs.nrows do
         local row = rs:fetch_row()
         is_right = is_right and tonumber(row[1]) > 0
         print(sysbench.tid, number, row[1], row[2])
      end
      local amount, orders = con:query_row(("SELECT w_ytd, (SELECT COUNT(*) FROM orders%d) FROM warehouse%d"):format(number, number))
      print(amount, orders, amount + 0, orders * 2)
   end
   return is_right
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   for number = 1, sysbench.opt.scale do
      print("Dropping tables '" .. number .. "'")
      for _, name in pairs({"stock", "orders", "warehouse"}) do
         con:query("DROP TABLE IF EXISTS " .. name .. number)
      end
   end
end

sysbench.cmdline.commands = {
   load = {cmd_load, sysbench.cmdline.PARALLEL_COMMAND},
   check = {cmd_check, false},
}
