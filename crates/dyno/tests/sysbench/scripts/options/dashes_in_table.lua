-- Names in the option table may have dashes.
-- servers: none
-- $ --with-dash=3 run
-- $ help

sysbench.cmdline.options = {["with-dash"] = {"A name with a dash", 1}}

function event()
   print(sysbench.opt.with_dash, sysbench.opt["with-dash"])
   return true
end
