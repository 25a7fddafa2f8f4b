-- Errors that are no texts.
-- servers: none
-- $ --events=1 --kind=table run
-- $ --events=1 --kind=nil run
-- $ --events=1 --kind=number run
-- $ --events=1 --kind=boolean run
-- $ --events=1 --kind=object run
-- $ --events=1 --kind=none run

sysbench.cmdline.options = {kind = {"What is thrown", ""}}

local kinds = {
   table = {message = "in a table"},
   number = 42,
   boolean = false,
   object = setmetatable({}, {__tostring = function() return "an object's text" end}),
   none = {errcode = 0},
}

function event()
   error(kinds[sysbench.opt.kind])
end
