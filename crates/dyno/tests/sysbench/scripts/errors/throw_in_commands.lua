-- Errors in prepare(), cleanup(), help() and a command of the script.
-- servers: none
-- $ prepare
-- $ cleanup
-- $ help
-- $ own
-- $ --threads=1 side
-- $ quiet

function prepare()
   error("thrown in prepare")
end

function cleanup()
   error({reason = "a table"})
end

function help()
   local nothing
   return nothing.field
end

local function own()
   error("thrown in a command", 0)
end

sysbench.cmdline.commands = {
   own = {own},
   side = {own, sysbench.cmdline.PARALLEL_COMMAND},
   quiet = {function() return false end},
}
