-- Options as people declare them: by a loop, changed after the module, negative, fractional, huge, off, empty, from functions.
-- servers: none
-- $ show
-- $ --negative=-7 --fraction=.5 --huge=1e12 --on=off --off=true --digits=042 --list=a,,b --empty_list=x --blank= show
-- $ --on=0 --off=1 show
-- $ --on=yes show
-- $ --loop-1=5 --loop_3=7 --table_size=12 --tables=3 show
-- $ --list= --huge= --digits= show
-- $ --on --off show
-- $ --list='one two,three' --text='--dashes=and spaces' show
-- $ --digits=0x1F --huge=0x1F --negative=+3 --fraction=1. show
-- $ --on=maybe show
-- $ --rows=5 show

require("oltp_common")

local options = {
   negative = {"Below zero", -5},
   fraction = {"Less than one", 0.25},
   huge = {"Beyond 32 bits", 2 ^ 40},
   on = {"On by default", true},
   off = {"Off by default", false},
   digits = {"A number as a text", "10"},
   list = {"A list", {"x", "y"}},
   empty_list = {"An empty list", {}},
   blank = {"A blank", " "},
   text = {"A text without default"},
   typed = {"Typed by hand", "7", sysbench.cmdline.ARG_STRING},
   size = {"A size", "4K", sysbench.cmdline.ARG_STRING},
}
for i = 1, 3 do
   options["loop_" .. i] = {string.format("Made in a loop, number %d", i), i * 10}
end
for name, value in pairs(options) do
   sysbench.cmdline.options[name] = value
end
sysbench.cmdline.options.tables[2] = 4
sysbench.cmdline.options.table_size = {"Rows, as this script wants them", 77}
sysbench.cmdline.options.range_size = nil

local function quoted(value)
   if type(value) == "table" then
      local texts = {}
      for i, item in ipairs(value) do
         texts[i] = ("%q"):format(item)
      end
      return "{" .. table.concat(texts, ",") .. "}"
   end
   return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

local function show()
   local names = {"tables", "table_size", "range_size", "skip_trx", "mysql_storage_engine"}
   for name in pairs(options) do
      names[#names + 1] = name
   end
   table.sort(names)
   for _, name in ipairs(names) do
      print(name, type(sysbench.opt[name]), quoted(sysbench.opt[name]))
   end
   print(sysbench.opt.digits + 1, sysbench.opt.huge / 2, sysbench.opt.fraction * 4)
end

sysbench.cmdline.commands = {show = {show}}
