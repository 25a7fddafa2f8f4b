-- A command of the table comes before a global function of its name.
-- servers: none
-- $ prepare
-- $ cleanup
-- $ run
-- $ help

function prepare()
   print("the global prepare")
end

function cleanup()
   print("the global cleanup")
end

function help()
   print("the global help")
end

sysbench.cmdline.commands = {
   prepare = {function() print("prepare of the table") end},
   run = {function() print("run of the table") end},
   help = {function() print("help of the table") end},
}

function event()
   print("not reached")
end
