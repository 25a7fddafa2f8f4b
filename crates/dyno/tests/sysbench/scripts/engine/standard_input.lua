-- A script on the standard input is executed, and no command of it is run.
-- servers: none
-- $ - < SCRIPT
-- $ - prepare < SCRIPT
-- $ < SCRIPT

print("read from the standard input", sysbench.cmdline.command, sysbench.tid)

function prepare()
   print("not called")
end

function event()
   print("not called either")
end
