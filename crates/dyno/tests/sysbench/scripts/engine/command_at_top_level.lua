-- The command is known at the top level; the options are not.
-- servers: none
-- $ run --events=1
-- $ prepare
-- $ cleanup
-- $ help
-- $ whatever
-- $

if sysbench.cmdline.command == nil then
   error("a command is needed")
end
print(sysbench.cmdline.command, sysbench.opt)

function event()
end

function prepare()
   print("preparing", sysbench.cmdline.command)
end

function cleanup()
   print("cleaning up")
end
