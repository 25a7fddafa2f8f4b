-- No undeclared globals, by a module that people bring along; and what it says of one.
-- $ prepare
-- $ --events=3 --threads=1 run
-- $ --events=3 --threads=1 --wrong=on run

package.path = sysbench.cmdline.script_path:match("(.*/)") .. "library/?.lua;" .. package.path
require("strict")

sysbench.cmdline.options = {wrong = {"Use an unknown variable", false}}

drv, con, count = nil, nil, 0

function prepare()
   local c = sysbench.sql.driver():connect()
   c:query("CREATE TABLE t(a INT)")
   c:bulk_insert_init("INSERT INTO t VALUES ")
   c:bulk_insert_next("(1)")
   c:bulk_insert_next("(2)")
   c:bulk_insert_done()
   c:disconnect()
   print(pcall(function() return unknown_name end))
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

function event()
   count = count + 1
   local r = sysbench.rand.uniform(5, 5)
   local a = con:query_row("SELECT " .. r)
   print(count, a, sysbench.rand.string("##"):match("^%d%d$") ~= nil)
   if sysbench.opt.wrong and count == 2 then
      undeclared = 5
   end
end

function thread_done()
   con:disconnect()
end
