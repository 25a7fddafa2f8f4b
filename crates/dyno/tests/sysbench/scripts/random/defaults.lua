-- default() follows --rand-type.
-- servers: none
-- $ --events=1 --threads=1 run
-- $ --events=1 --threads=1 --rand-type=uniform run
-- $ --events=1 --threads=1 --rand-type=pareto run
-- $ --events=1 --threads=1 --rand-type=gaussian run

function event()
   local low, middle = 0, 0
   for _ = 1, 50000 do
      local value = sysbench.rand.default(1, 1000)
      low = value <= 200 and low + 1 or low
      middle = value > 490 and value <= 510 and middle + 1 or middle
   end
   print(sysbench.opt.rand_type, ("%.1f %.1f"):format(low / 50000, middle / 50000))
   return true
end
