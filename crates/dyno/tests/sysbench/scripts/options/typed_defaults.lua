-- Types that the script names, beside defaults of another type in Lua.
-- servers: none
-- $ show
-- $ --switch=off --size=2M --list=c --text=x --number=2 show
-- $ help

local cmdline = sysbench.cmdline

cmdline.options = {
   switch = {"A switch from a text", "on", cmdline.ARG_BOOL},
   one = {"A switch from a number", "1", cmdline.ARG_BOOL},
   size = {"A size from a text", "4K", cmdline.ARG_SIZE},
   bytes = {"A size from a number", 4096, cmdline.ARG_SIZE},
   list = {"A list from a text", "a,b", cmdline.ARG_LIST},
   single = {"A list from a number", 5, cmdline.ARG_LIST},
   text = {"A text from a switch", true, cmdline.ARG_STRING},
   digits = {"A text from a number", 12, cmdline.ARG_STRING},
   number = {"A number from a text", "1.5", cmdline.ARG_DOUBLE},
   whole = {"A whole number from a text", "7", cmdline.ARG_INT},
}

local function show()
   local names = {}
   for name in pairs(cmdline.options) do
      names[#names + 1] = name
   end
   table.sort(names)
   for _, name in ipairs(names) do
      local value = sysbench.opt[name]
      print(name, type(value), type(value) == "table" and table.concat(value, ";") or tostring(value))
   end
end

cmdline.commands = {show = {show}}
