-- An option table without options is a table: unknown options are errors.
-- servers: none
-- $ --something=1 run
-- $ help

sysbench.cmdline.options = {}

function event()
   print(sysbench.opt.something, something)
   return true
end
