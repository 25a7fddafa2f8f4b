-- Lists as defaults, of texts and of numbers.
-- servers: none
-- $ run
-- $ --normal=2 run

sysbench.cmdline.options = {
   normal = {"A normal option", 1},
   long_default = {"Many items", {"a", "b", "c", "d", "e"}},
   numbers = {"Numbers in a list", {1, 2, 3}},
}

function event()
   print(sysbench.opt.normal, #sysbench.opt.long_default, table.concat(sysbench.opt.numbers, "+"))
   return true
end
