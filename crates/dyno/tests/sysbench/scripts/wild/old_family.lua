-- A family of the 0.5 era in the manner of its time: thread functions share a file, prepare by statements, names by db_driver.
-- $ prepare
-- $ --max-requests=15 --num-threads=1 run
-- $ --max-requests=15 --num-threads=1 --oltp-range-size=5 --oltp-secondary=on run
-- $ cleanup
-- counters: random

pathtest = string.match(test, "(.*/)") or ""

if pathtest then
   dofile(pathtest .. "library/old_common.lua")
else
   require("old_common")
end

function thread_init(thread_id)
   set_vars()
   counter = 0
   if (((db_driver == "mysql") or (db_driver == "attachsql")) and mysql_table_engine == "myisam") then
      begin_query = "LOCK TABLES old WRITE"
      commit_query = "UNLOCK TABLES"
   else
      begin_query = "BEGIN"
      commit_query = "COMMIT"
   end
end

function event(thread_id)
   local rs
   local id = sb_rand_uniform(1, oltp_table_size)
   counter = counter + 1
   db_query(begin_query)
   rs = db_query("SELECT pad FROM old WHERE id=" .. id)
   rs = db_query("SELECT SUM(k) FROM old WHERE id BETWEEN " .. id .. " AND " .. id .. " + " .. oltp_range_size - 1)
   db_query("UPDATE old SET k=k+" .. counter .. " WHERE id=" .. counter)
   db_query("UPDATE old SET pad='" .. sb_rand_str("####") .. "' WHERE id=0")
   db_query(commit_query)
   if counter == 3 then
      print(type(rs), type(sb_rnd()), sb_rand(5, 5), sb_rand_gaussian(2, 2), sb_rand_special(3, 3))
      print(thread_id, db_driver ~= nil, mysql_table_engine, DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)
   end
end
