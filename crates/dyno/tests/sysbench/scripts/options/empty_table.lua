-- An option table without options is as none: unknown options become globals.
-- servers: none
-- $ --something=1 run
-- $ help

sysbench.cmdline.options = {}

function event()
   print(sysbench.opt.something, something)
   return true
end
