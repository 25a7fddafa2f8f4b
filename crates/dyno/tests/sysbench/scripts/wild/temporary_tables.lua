-- DDL in events: temporary tables filled and joined, tables made, altered, renamed, emptied and dropped.
-- $ prepare
-- $ --events=5 --threads=1 run
-- $ --events=6 --threads=2 --own=on run

sysbench.cmdline.options = {own = {"Tables of the thread's own", false}}

function prepare()
   local con = assert(sysbench.sql.driver():connect())
   assert(con:query("CREATE TABLE big(i INTEGER PRIMARY KEY, c1 INTEGER, c2 INTEGER, c3 VARCHAR(255))"))
   con:bulk_insert_init("INSERT INTO big VALUES")
   for i = 1, 200 do
      con:bulk_insert_next(("(%d, %d, %d, '%s')"):format(i, i % 7, -i, ("text"):rep(i % 5)))
   end
   con:bulk_insert_done()
end

function thread_init(id)
   con = sysbench.sql.driver():connect()
   name, round = "chosen_" .. id, 0
end

local function joined()
   con:query("DROP TABLE IF EXISTS " .. name)
   con:query("CREATE TEMPORARY TABLE " .. name .. "(i INTEGER PRIMARY KEY)")
   local keys = {}
   for n = 1, 20 do
      keys[n] = "(" .. (n * 9 + round) % 200 + 1 .. ")"
   end
   con:query("INSERT INTO " .. name .. " VALUES " .. table.concat(keys, ","))
   local rs = con:query("SELECT big.i, c1, c2, c3 FROM big JOIN " .. name .. " USING (i) ORDER BY big.i")
   local sum = 0
   for _ = 1, rs.nrows do
      sum = sum + rs:fetch_row()[3]
   end
   rs:free()
   return sum
end

local function made(id)
   local own = "own_" .. id
   con:query("CREATE TABLE " .. own .. " AS SELECT i, c1 FROM big WHERE i <= 10")
   con:query("ALTER TABLE " .. own .. " ADD COLUMN extra INTEGER DEFAULT 5")
   con:query("CREATE INDEX idx_" .. own .. " ON " .. own .. "(extra)")
   con:query("ALTER TABLE " .. own .. " RENAME TO " .. own .. "_renamed")
   local count = con:query_row("SELECT SUM(extra) FROM " .. own .. "_renamed")
   con:query("TRUNCATE TABLE " .. own .. "_renamed")
   con:query("DROP TABLE " .. own .. "_renamed")
   return count
end

function event(id)
   round = round + 1
   if sysbench.opt.own then
      assert(made(id) == "50")
   else
      print(round, joined())
   end
end
