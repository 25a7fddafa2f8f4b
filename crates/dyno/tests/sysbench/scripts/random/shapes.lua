-- The distributions have their shapes.
-- servers: none
-- $ --events=1 --threads=1 run
-- $ --events=1 --threads=1 --rand-seed=1 run
-- $ --events=1 --threads=1 --rand-pareto-h=0.5 run
-- $ --events=1 --threads=1 --rand-spec-pct=10 --rand-spec-res=50 run

-- Shares are rounded so coarsely that chance cannot change them.
local function share(draw, low, high)
   local hits, total = 0, 100000
   for _ = 1, total do
      local value = draw(1, 10000)
      if value >= low and value <= high then
         hits = hits + 1
      end
   end
   return ("%.1f"):format(hits / total)
end

function event()
   local rand = sysbench.rand
   print("uniform", share(rand.uniform, 1, 2050))
   print("pareto, lowest fifth", share(rand.pareto, 1, 2000))
   print("gaussian, within one sigma", share(rand.gaussian, 4170, 5830))
   print("special, the middle", share(rand.special, 4950, 5050))
   print("special, elsewhere below", share(rand.special, 1, 1000))
   return true
end
