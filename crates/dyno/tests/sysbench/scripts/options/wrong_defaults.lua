-- A default that is no value of the type that is named for it.
-- servers: none
-- $ --kind=1 prepare
-- $ --kind=2 prepare
-- $ --kind=3 prepare
-- $ --kind=4 prepare
-- $ --kind=5 prepare
-- $ --kind=6 prepare

local line, c = sysbench.cmdline.argv, sysbench.cmdline
local kind
for _, argument in pairs(line) do
   kind = tonumber(argument:match("^%-%-kind=(%d)")) or kind
end
local entries = {
   {"a number", "abc", c.ARG_INT}, {"a whole number", 1.5, c.ARG_INT}, {"a large number", 2 ^ 40, c.ARG_SIZE},
   {"a switch", "maybe", c.ARG_BOOL}, {"a file", nil, c.ARG_FILE}, {"a large size", "4G", c.ARG_SIZE},
}
sysbench.cmdline.options = {kind = {"which", 1}, value = entries[kind]}

function prepare()
   print(type(sysbench.opt.value), sysbench.opt.value)
end
