#!/usr/bin/env sysbench
-- One INSERT as plain text. With auto_inc=off the script numbers the rows, and therefore starts
-- with empty tables.

require("oltp_common")

sysbench.cmdline.commands.prepare = {
   function()
      if not sysbench.opt.auto_inc then
         sysbench.opt.table_size = 0
      end
      cmd_prepare()
   end,
   sysbench.cmdline.PARALLEL_COMMAND,
}

function prepare_statements()
end

function event()
   local name = "sbtest" .. sysbench.rand.uniform(1, sysbench.opt.tables)
   local k, c, pad = sysbench.rand.default(1, sysbench.opt.table_size), get_c_value(), get_pad_value()
   if sysbench.opt.auto_inc and drv:name() ~= "mysql" then
      con:query(("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')"):format(name, k, c, pad))
   else
      -- MySQL replaces 0 by the next number. unique() returns 32 unsigned bits, but the column is
      -- signed.
      local id = sysbench.opt.auto_inc and 0 or sysbench.rand.unique() - 2147483648
      con:query(("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')"):format(name, id, k, c, pad))
   end
   check_reconnect()
end
