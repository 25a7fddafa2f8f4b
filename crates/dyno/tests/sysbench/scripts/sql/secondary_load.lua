-- In the manner of the insert benchmark: several tables with several indexes, rows in batches, deletes that keep the size.
-- $ --tables=2 --rows=60 prepare
-- $ --tables=2 --batch=10 --events=8 --threads=1 run
-- $ --tables=2 cleanup
-- $ --tables=1 --rows=20 prepare

sysbench.cmdline.options = {
   tables = {"Number of tables", 1},
   rows = {"Rows at the beginning", 100},
   batch = {"Rows per INSERT", 5},
   delete_per_insert = {"Delete as many as are inserted", true},
   secondary_indexes = {"Indexes besides the primary key", 3},
   customers = {"Number of customers", 7},
   products = {"Number of products", 5},
   pad = {"Length of the text", 12},
}

local function columns(drv)
   local id = drv:name() == "mysql" and "BIGINT NOT NULL AUTO_INCREMENT" or "BIGSERIAL NOT NULL"
   return id .. [[ PRIMARY KEY, customer INT NOT NULL, product INT NOT NULL, price FLOAT NOT NULL, data VARCHAR(40)]]
end

-- Values follow from the row's number, so that every run is the same.
local function row(number)
   return ("(%d, %d, %.2f, '%s')"):format(number % sysbench.opt.customers, number % sysbench.opt.products,
      number * 1.25, string.rep(string.char(97 + number % 26), sysbench.opt.pad))
end

function prepare()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for i = 1, sysbench.opt.tables do
      print("Creating purchases" .. i)
      con:query("CREATE TABLE purchases" .. i .. "(id " .. columns(drv) .. ")")
      con:bulk_insert_init("INSERT INTO purchases" .. i .. "(customer, product, price, data) VALUES")
      for number = 1, sysbench.opt.rows do
         con:bulk_insert_next(row(number))
      end
      con:bulk_insert_done()
      local keys = {"price, customer", "customer, price", "product, price"}
      for key = 1, sysbench.opt.secondary_indexes do
         con:query(("CREATE INDEX purchases%d_%d ON purchases%d(%s)"):format(i, key, i, keys[key]))
      end
   end
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   next_number = 1000
end

function event()
   local name = "purchases" .. next_number / sysbench.opt.batch % sysbench.opt.tables + 1
   local rows = {}
   for i = 1, sysbench.opt.batch do
      rows[i] = row(next_number + i)
   end
   next_number = next_number + sysbench.opt.batch
   con:query("INSERT INTO " .. name .. " (customer, product, price, data) VALUES " .. table.concat(rows, ","))
   if sysbench.opt.delete_per_insert then
      local low = con:query_row("SELECT MIN(id) FROM " .. name)
      con:query(("DELETE FROM %s WHERE id < %d"):format(name, low + sysbench.opt.batch))
   end
   local rs = con:query("SELECT customer, COUNT(*), SUM(product) FROM " .. name .. " GROUP BY customer ORDER BY customer LIMIT 3")
   local counts = {}
   for i = 1, rs.nrows do
      counts[i] = table.concat(rs:fetch_row(), ":")
   end
   print(name, table.concat(counts, " "))
end

function thread_done()
   con:disconnect()
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   for i = 1, sysbench.opt.tables do
      con:query("DROP TABLE IF EXISTS purchases" .. i)
   end
end
