#!/usr/bin/env sysbench
-- A family of files in the manner of TPC-C: modules beside the script, a parallel load, checks, a weighted mix.
-- $ --scale=2 --items=20 --threads=3 load
-- $ --scale=2 --items=20 check
-- $ --scale=2 --items=20 --trx_level=RC --events=40 --threads=1 run
-- $ --scale=2 --items=20 --use-fk=0 --events=12 --threads=1 --verbosity=4 run
-- $ --scale=2 check
-- $ --scale=2 cleanup
-- $ --scale=2 --bogus run
-- lines: any order

-- Files of the family stand beside this one, wherever it is called from.
local here = (sysbench.cmdline.script_path or arg and arg[0] or ""):match("(.*/)") or "./"
package.path = here .. "library/?.lua;" .. package.path

require("tpcc_common")
require "tpcc_run"

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   set_isolation_level(drv, con)
   seed = 17
   number_of_order = 0
   for number = 1, sysbench.opt.scale do
      number_of_order = math.max(number_of_order, con:query_row("SELECT COALESCE(MAX(o_id), 0) FROM orders" .. number))
   end
end

local mix = {{new_order, 23}, {payment, 22}, {order_status, 2}, {delivery, 2}, {stock_level, 2}}
local total = 0
for _, entry in ipairs(mix) do
   total = total + entry[2]
end

local function choose()
   local number = next_number(1, total)
   for _, entry in ipairs(mix) do
      number = number - entry[2]
      if number <= 0 then
         return entry[1]
      end
   end
end

function event()
   local ok, err = pcall(choose())
   if not ok then
      if type(err) == "table" and err.errcode == sysbench.error.RESTART_EVENT then
         con:query("ROLLBACK")
      end
      error(err)
   end
end

function thread_done()
   con:disconnect()
end

function sysbench.hooks.before_restart_event(err)
   con:query("ROLLBACK")
end

function sysbench.hooks.report_intermediate(stat)
   sysbench.report_default(stat)
end
