-- A parallel command that fails in one thread.
-- servers: none
-- $ --threads=3 half
-- $ --threads=3 false

sysbench.cmdline.commands = {
   half = {
      function()
         if sysbench.tid == 1 then
            error("thread 1 fails")
         end
      end,
      sysbench.cmdline.PARALLEL_COMMAND,
   },
   ["false"] = {function() return sysbench.tid ~= 1 end, sysbench.cmdline.PARALLEL_COMMAND},
}
