-- Transactions of the family.
local function table_number()
   return next_number(1, sysbench.opt.scale)
end

function new_order()
   local number = table_number()
   number_of_order = number_of_order + 1
   con:query("BEGIN")
   local items = {}
   for line = 1, next_number(5, 15) do
      items[line] = next_number(1, sysbench.opt.items)
   end
   table.sort(items)
   for _, item in ipairs(items) do
      local quantity, data = con:query_row(
         ("SELECT s_quantity, s_data FROM stock%d WHERE s_i_id = %d AND s_w_id = 1 FOR UPDATE"):format(number, item))
      local left = quantity > "0" and quantity - 1 or 99
      con:query(("UPDATE stock%d SET s_quantity = %d WHERE s_i_id = %d AND s_w_id = %d"):format(number, left, item, 1))
   end
   con:query(([[INSERT INTO orders%d (o_id, o_w_id, o_entry, o_carrier) VALUES (%d, 1, '%s', %s)]]):format(
      number, number_of_order, os.date("!%Y", 0), next_number(0, 1) == 0 and "NULL" or 3))
   con:query("COMMIT")
end

function payment()
   local number = table_number()
   con:query("BEGIN")
   con:query(("UPDATE warehouse%d SET w_ytd = w_ytd + %.2f WHERE w_id = 1"):format(number, next_number(100, 500000) / 100))
   local name = con:query_row("SELECT w_name FROM warehouse" .. number .. " WHERE w_id = 1")
   assert(name:sub(1, 5) == "name-")
   con:query(next_number(1, 10) == 1 and "ROLLBACK" or "COMMIT")
end

function order_status()
   local rs = con:query("SELECT o_id, o_carrier FROM orders" .. table_number() .. " ORDER BY o_id DESC LIMIT 3")
   for i = 1, rs.nrows do
      local id, carrier = unpack(rs:fetch_row(), 1, rs.nfields)
      assert(tonumber(id) and (carrier == nil or carrier == "3"))
   end
end

function delivery()
   local number = table_number()
   con:query("BEGIN")
   local id = con:query_row("SELECT MIN(o_id) FROM orders" .. number .. " WHERE o_carrier IS NULL")
   if id ~= nil then
      con:query("UPDATE orders" .. number .. " SET o_carrier = 3 WHERE o_w_id = 1 AND o_id = " .. id)
   end
   con:query("COMMIT")
end

function stock_level()
   local low = con:query_row("SELECT COUNT(DISTINCT s_i_id) FROM stock" .. table_number() .. " WHERE s_quantity < 12")
   return tonumber(low) < 0
end
