-- The random functions of the 0.5 interface.
-- servers: none
-- $ --events=1 --num-threads=1 run

function event()
   for _, name in ipairs({"sb_rand", "sb_rand_uniform", "sb_rand_gaussian", "sb_rand_special"}) do
      local low, high = 100, 0
      for _ = 1, 5000 do
         local value = _G[name](1, 10)
         low, high = math.min(low, value), math.max(high, value)
      end
      print(name, low >= 1, high <= 10)
   end
   print(sb_rand_str("##-@@"):match("^%d%d%-%l%l$") ~= nil, type(sb_rnd()), sb_rnd() % 1)
   print(type(sb_rand_uniq(1, 1000)))
   return true
end
