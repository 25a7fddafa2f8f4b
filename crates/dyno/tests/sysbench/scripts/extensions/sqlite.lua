-- The third driver, on the tables of oltp_common.

require("oltp_common")

function prepare_statements()
   prepare_begin()
   prepare_commit()
   prepare_point_selects()
   prepare_simple_ranges()
   prepare_index_updates()
   prepare_non_index_updates()
   prepare_delete_inserts()
end

function event()
   begin()
   execute_point_selects()
   execute_simple_ranges()
   execute_index_updates()
   execute_non_index_updates()
   execute_delete_inserts()
   commit()
end

function thread_done()
   print(drv:name(), con:query_row("SELECT COUNT(*), MIN(id), MAX(id), MIN(LENGTH(c)), MAX(LENGTH(pad)) FROM sbtest1"))
   close_statements()
   con:disconnect()
end
