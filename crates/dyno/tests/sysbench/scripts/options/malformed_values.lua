-- Malformed values of the script's own options.
-- servers: none
-- $ --flag=maybe run
-- $ --count=12x run

sysbench.cmdline.options = {
   flag = {"A switch", true},
   count = {"A count", 1, sysbench.cmdline.ARG_INT},
}

function event()
   print(sysbench.opt.flag, sysbench.opt.count)
   return true
end
