#!/usr/bin/env sysbench
-- One SELECT of the rows whose k is in a list of random values. Each thread has its own range of
-- values.

require("oltp_common")

sysbench.cmdline.options.random_points = {"Values in the list", 10}

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
   local points = sysbench.opt.random_points
   stmt = con:prepare(([[
        SELECT id, k, c, pad
          FROM sbtest1
          WHERE k IN (%s)
        ]]):format(string.rep("?", points, ", ")))
   param = {}
   for i = 1, points do
      param[i] = stmt:bind_create(sysbench.sql.type.INT)
   end
   stmt:bind_param(unpack(param))
end

function close_statements()
   stmt:close()
end

function event(thread_id)
   local first = part * thread_id
   for i = 1, #param do
      param[i]:set(sysbench.rand.default(first, first + part))
   end
   stmt:execute()
   check_reconnect()
end
