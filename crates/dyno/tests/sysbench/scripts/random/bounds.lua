-- Numbers lie within their bounds, both included, and are whole.
-- servers: none
-- $ --events=1 --threads=1 run
-- $ --events=1 --threads=1 --rand-type=uniform run
-- $ --events=1 --threads=1 --rand-type=gaussian run
-- $ --events=1 --threads=1 --rand-type=pareto run

local function check(name, draw, low, high, is_full)
   local seen, count = {}, 0
   for _ = 1, 20000 do
      local value = draw(low, high)
      assert(type(value) == "number" and value >= low and value <= high and value % 1 == 0, name .. " " .. tostring(value))
      if not seen[value] then
         seen[value] = true
         count = count + 1
      end
   end
   print(name, low, high, is_full and count or "")
end

function event()
   local rand = sysbench.rand
   for _, name in ipairs({"default", "uniform", "gaussian", "special", "pareto"}) do
      check(name, rand[name], 1, 10, name == "uniform")
      check(name, rand[name], 7, 7, true)
      check(name, rand[name], 0, 4294967295)
   end
   check("uniform", rand.uniform, 1, 100, true)
   return true
end
