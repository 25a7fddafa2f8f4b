-- A family of the 0.5 era: a shared file by dofile, options as global texts, one implicit connection.
-- $ --oltp-table-size=50 --oltp-tables-count=2 prepare
-- $ --oltp-table-size=50 --oltp-tables-count=2 --oltp-read-only=off --events=20 --num-threads=1 run
-- $ --oltp-table-size=50 --oltp-read-only=on --max-requests=10 --num-threads=1 run
-- $ --oltp-tables-count=2 cleanup
-- $ prepare

pathtest = string.match(test, "(.*/)") or ""

dofile(pathtest .. "library/tables.lua")

function thread_init(thread_id)
   set_vars()
   transactions = 0
   begin_query = "BEGIN"
   commit_query = "COMMIT"
end

function event(thread_id)
   transactions = transactions + 1
   local name = "old" .. transactions % tables_count + 1
   db_query(begin_query)
   for i = 1, 3 do
      rs = db_query("SELECT c FROM " .. name .. " WHERE id = " .. (transactions * i) % table_size + 1)
   end
   rs = db_query("SELECT c FROM " .. name .. " WHERE id BETWEEN 10 AND " .. 10 + 5 .. " ORDER BY c")
   if not read_only then
      rs = db_query("UPDATE " .. name .. " SET k = k + 1 WHERE id = " .. transactions % table_size + 1)
      rs = db_query("DELETE FROM " .. name .. " WHERE id = " .. table_size)
      rs = db_query("INSERT INTO " .. name .. " (id, k, c) VALUES (" .. string.format("%d, %d, '%s'", table_size, transactions, "new") .. ")")
   end
   db_query(commit_query)
end
