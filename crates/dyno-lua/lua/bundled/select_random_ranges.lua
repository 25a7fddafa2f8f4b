#!/usr/bin/env sysbench
-- One SELECT that counts the rows whose k is in any of several random ranges. Each thread has its
-- own range of values.

require("oltp_common")

sysbench.cmdline.options.number_of_ranges = {"Ranges in the condition", 10}
sysbench.cmdline.options.delta = {"Distance between the ends of a range", 5}

local cleanup_tables = cleanup

function cleanup()
   assert(sysbench.opt.tables == 1, "this benchmark does not support --tables > 1")
   cleanup_tables()
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   prepare_statements()
   part = sysbench.opt.table_size / sysbench.opt.threads
end

function prepare_statements()
   local ranges = sysbench.opt.number_of_ranges
   stmt = con:prepare(([[
        SELECT count(k)
          FROM sbtest1
          WHERE %s]]):format(string.rep("k BETWEEN ? AND ?", ranges, " OR ")))
   param = {}
   for i = 1, 2 * ranges do
      param[i] = stmt:bind_create(sysbench.sql.type.INT)
   end
   stmt:bind_param(unpack(param))
end

function close_statements()
   stmt:close()
end

function event(thread_id)
   local first = part * thread_id
   for i = 1, #param, 2 do
      local low = sysbench.rand.default(first, first + part)
      param[i]:set(low)
      param[i + 1]:set(low + sysbench.opt.delta)
   end
   stmt:execute()
   check_reconnect()
end
