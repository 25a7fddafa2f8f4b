-- A script knows its path as it was given, and its arguments.
-- servers: none
-- $ --verbosity=3 prepare
-- $ - < SCRIPT

print(test, sysbench.cmdline.script_path)
print(type(sysbench.cmdline.argv), sysbench.cmdline.argv[1] ~= nil)
print(string.match(test or "", "(.*/)") or "")

function prepare()
   print(test, sysbench.cmdline.script_path)
end
