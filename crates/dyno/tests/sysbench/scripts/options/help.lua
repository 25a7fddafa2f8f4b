-- A script's own help() stands in place of the list.
-- servers: none
-- $ help
-- $ --width=3 help

sysbench.cmdline.options = {width = {"How wide", 2}}

function help(...)
   print("my own help", select("#", ...), sysbench.opt.width)
   sysbench.cmdline.print_test_options()
end

function event()
end
