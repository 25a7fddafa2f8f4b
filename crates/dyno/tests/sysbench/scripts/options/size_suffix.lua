-- A size suffix on a number.
-- servers: none
-- $ --number=1M run
-- $ --number=4k run

sysbench.cmdline.options = {number = {"A number", 10}}

function event()
   print(sysbench.opt.number)
   return true
end
