-- The third element names the type where the default does not.
-- servers: none
-- $ run
-- $ --size=4K --count=12 --ratio=0.5 --word=w --list=p,q run
-- $ --size=1M run
-- $ help

local cmdline = sysbench.cmdline

cmdline.options = {
   size = {"A size", nil, cmdline.ARG_SIZE},
   count = {"A count", nil, cmdline.ARG_INT},
   ratio = {"A ratio", nil, cmdline.ARG_DOUBLE},
   word = {"A word", nil, cmdline.ARG_STRING},
   list = {"A list", nil, cmdline.ARG_LIST},
   switch = {"A switch", nil, cmdline.ARG_BOOL},
}

function event()
   for _, name in ipairs({"size", "count", "ratio", "word", "switch"}) do
      print(name, type(sysbench.opt[name]), sysbench.opt[name])
   end
   print("list", type(sysbench.opt.list), sysbench.opt.list and #sysbench.opt.list)
   return true
end
