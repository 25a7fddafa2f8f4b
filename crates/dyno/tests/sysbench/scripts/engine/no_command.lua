-- A script without a command is executed once.
-- servers: none
-- $

print("executed", sysbench.cmdline.command)

function event()
   print("not called")
end
