-- What is no number counts as 0, and what follows a number is left out.
-- servers: none
-- $ --number=abc run
-- $ --number=12abc run
-- $ --number= run

sysbench.cmdline.options = {number = {"A number", 10}}

function event()
   print(sysbench.opt.number)
   return true
end
