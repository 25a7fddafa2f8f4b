-- Reversed bounds do not crash.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   for _, name in ipairs({"default", "uniform", "gaussian", "special", "pareto"}) do
      local value = sysbench.rand[name](10, 1)
      print(name, type(value))
   end
   return true
end
