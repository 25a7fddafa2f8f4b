-- Bounds are whole numbers without sign: fractions are cut.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   for _ = 1, 1000 do
      local value = sysbench.rand.uniform(1.9, 3.9)
      assert(value >= 1 and value <= 3)
   end
   print(sysbench.rand.uniform(10 / 4, 2.7), sysbench.rand.default(5.5, 5.5), sysbench.rand.pareto(3, 3))
   return true
end
