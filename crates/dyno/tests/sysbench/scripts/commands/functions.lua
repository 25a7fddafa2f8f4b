-- The functions of sysbench.cmdline.
-- servers: none
-- $ prepare

sysbench.cmdline.options = {b = {"Second", 1}, a = {"First", "x"}}
sysbench.cmdline.commands = {
   one = {function() print("one is called") return true end},
   many = {function() end, sysbench.cmdline.PARALLEL_COMMAND},
}

function prepare()
   local cmdline = sysbench.cmdline
   print(cmdline.command_defined("one"), cmdline.command_defined("none"))
   print(cmdline.command_parallel("one"), cmdline.command_parallel("many"), cmdline.command_parallel("none"))
   print(cmdline.call_command("one"))
   cmdline.print_test_options()
   print(cmdline.ARG_NULL, cmdline.ARG_BOOL, cmdline.ARG_INT, cmdline.ARG_SIZE, cmdline.ARG_DOUBLE, cmdline.ARG_STRING, cmdline.ARG_LIST, cmdline.ARG_FILE, cmdline.ARG_MAX)
   print(cmdline.PARALLEL_COMMAND)
end
