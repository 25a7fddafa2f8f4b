-- A transaction of many statements that computes with what it read.
-- $ prepare
-- $ --events=25 --threads=1 run

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE district(id INTEGER PRIMARY KEY, next_order INTEGER, ytd DECIMAL(12,2))")
   con:query("CREATE TABLE stock(item INTEGER PRIMARY KEY, quantity INTEGER, sold INTEGER)")
   con:query("CREATE TABLE orders(district INTEGER, id INTEGER, line_count INTEGER, amount DECIMAL(12,2), PRIMARY KEY (district, id))")
   con:bulk_insert_init("INSERT INTO district VALUES")
   for id = 1, 5 do
      con:bulk_insert_next(("(%d, %d, %.2f)"):format(id, 100 * id, 0))
   end
   con:bulk_insert_done()
   con:bulk_insert_init("INSERT INTO stock VALUES")
   for item = 1, 40 do
      con:bulk_insert_next(("(%d, %d, 0)"):format(item, 20 + item))
   end
   con:bulk_insert_done()
end

function thread_init()
   con = sysbench.sql.driver():connect()
   orders = 0
end

local function new_order(district, lines)
   local number, ytd = con:query_row("SELECT next_order, ytd FROM district WHERE id = " .. district .. " FOR UPDATE")
   con:query(("UPDATE district SET next_order = %d WHERE id = %d"):format(number + 1, district))
   local amount = 0
   for line = 1, lines do
      local item = (orders * 7 + line * 3) % 40 + 1
      local quantity, sold = con:query_row(([[SELECT quantity, sold FROM stock WHERE item = %d FOR UPDATE]]):format(item))
      quantity = quantity - 4
      if quantity < 0 then
         quantity = quantity + 91
      end
      con:query(("UPDATE stock SET quantity = %d, sold = %d WHERE item = %d"):format(quantity, sold + 4, item))
      amount = amount + item * 1.25
   end
   con:query(("INSERT INTO orders VALUES (%d, %d, %d, %.2f)"):format(district, number, lines, amount))
   con:query(("UPDATE district SET ytd = %.2f WHERE id = %d"):format(ytd + amount, district))
end

function event()
   orders = orders + 1
   con:query("BEGIN")
   new_order(orders % 5 + 1, orders % 4 + 1)
   if orders % 10 == 0 then
      con:query("ROLLBACK")
   else
      con:query("COMMIT")
   end
end

function thread_done()
   print(con:query_row("SELECT COUNT(*), SUM(line_count), SUM(amount) FROM orders"))
   con:disconnect()
end
