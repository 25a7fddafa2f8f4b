-- A script of its own on the tables of oltp_common, overriding what it likes.
-- $ --tables=2 --table-size=50 prepare
-- $ --tables=2 --table-size=50 --events=10 --threads=1 run
-- $ --tables=2 cleanup
-- $ --tables=2 --table-size=50 --threads=1 --lines=2 prepare
-- rows: random
-- counters: random

require("oltp_common")

sysbench.cmdline.options.lines = {"An option of this script", 1}

function prepare_statements()
   prepare_begin()
   prepare_commit()
   prepare_point_selects()
   prepare_delete_inserts()
end

function event()
   begin()
   execute_point_selects()
   local number = sysbench.rand.uniform(1, sysbench.opt.tables)
   param[number].deletes[1]:set(7)
   stmt[number].deletes:execute()
   param[number].inserts[1]:set(7)
   param[number].inserts[2]:set(1)
   param[number].inserts[3]:set(get_c_value())
   param[number].inserts[4]:set(get_pad_value())
   stmt[number].inserts:execute()
   execute_delete_inserts()
   commit()
end

function thread_done()
   print(#get_c_value(), #get_pad_value(), drv:name() == sysbench.opt.db_driver)
   print(con:query_row("SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest1"))
   close_statements()
   con:disconnect()
end
