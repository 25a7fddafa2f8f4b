-- A parallel command runs once in every thread.
-- servers: none
-- lines: any order
-- $ --threads=4 --tables=10 prepare
-- $ --threads=1 --tables=3 prepare
-- $ --threads=3 --tables=2 fill
-- $ --threads=2 serial

sysbench.cmdline.options = {tables = {"Number of tables", 1}}

io.write("top level\n")

local function each_own_table(what)
   for i = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
      io.write(("%s table %d by %d\n"):format(what, i, sysbench.tid))
   end
end

sysbench.cmdline.commands = {
   prepare = {function() each_own_table("prepare") end, sysbench.cmdline.PARALLEL_COMMAND},
   fill = {function() each_own_table("fill") end, true},
   serial = {function() each_own_table("serial") end, "anything"},
}
