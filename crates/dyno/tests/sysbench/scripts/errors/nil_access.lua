-- What programmers get wrong: a nil called, indexed, added.
-- servers: none
-- $ --events=1 --case=1 run
-- $ --events=1 --case=2 run
-- $ --events=1 --case=3 run
-- $ --events=1 --case=4 run

sysbench.cmdline.options = {case = {"Which mistake", 1}}

function event()
   local case = sysbench.opt.case
   if case == 1 then
      no_such_function()
   elseif case == 2 then
      return sysbench.opt.missing.field
   elseif case == 3 then
      return 1 + nil
   else
      return ("x"):no_such_method()
   end
end
