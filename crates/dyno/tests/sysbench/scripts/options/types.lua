-- The type of an option comes from its default, and the key always has underscores.
-- servers: none
-- $ run
-- $ --flag=off --number=2.5 --text=hello --items=a,b,c --no-default=x --third-type=7 run
-- $ --flag --number=1e3 --text= --items= --no_default=y run
-- $ --flag=0 --other-flag=1 --number=0x10 run
-- $ --flag=true --other_flag=false --number=007 run
-- $ --number=-3 --number=4 --items=one run
-- $ help

sysbench.cmdline.options = {
   flag = {"A switch", true},
   other_flag = {"A switch that is off", false},
   number = {"A number", 10},
   fraction = {"A number with a fraction", 0.25},
   text = {"A text", "default"},
   empty_text = {"An empty text", ""},
   items = {"A list", {"x", "y"}},
   no_items = {"An empty list", {}},
   no_default = {"An option without a default"},
   third_type = {"A whole number", 5, sysbench.cmdline.ARG_INT},
}

local function shown(value)
   if type(value) == "table" then
      return "table {" .. table.concat(value, "|") .. "}"
   end
   return type(value) .. " " .. tostring(value)
end

function event()
   local names = {}
   for name in pairs(sysbench.cmdline.options) do
      names[#names + 1] = name
   end
   table.sort(names)
   for _, name in ipairs(names) do
      print(name, shown(sysbench.opt[name]))
   end
   return true
end
