-- Tables of options are built by code, and read where they are.
-- servers: none
-- $ --option-3=x run
-- $ help

sysbench.cmdline.options = {}
for i = 1, 4 do
   sysbench.cmdline.options["option_" .. i] = {("Option number %d"):format(i), tostring(i)}
end

function event()
   for i = 1, 4 do
      io.write(sysbench.opt["option_" .. i], " ")
   end
   print(sysbench.cmdline.options.option_1[1])
   return true
end
