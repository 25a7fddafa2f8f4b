-- What is no number counts as 0, and what follows a number is left out.
-- servers: none
-- $ --number=abc prepare
-- $ --number=12abc prepare
-- $ --number= prepare

sysbench.cmdline.options = {number = {"A number", 10}}

function prepare()
   print(sysbench.opt.number)
end
