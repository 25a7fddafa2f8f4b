-- uniform_double() is in [0, 1), uniform_uint64() has 64 bits.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   local sum, low, high = 0, 1, 0
   for _ = 1, 100000 do
      local value = sysbench.rand.uniform_double()
      assert(value >= 0 and value < 1)
      sum, low, high = sum + value, math.min(low, value), math.max(high, value)
   end
   print(("%.1f"):format(sum / 100000), low < 0.001, high > 0.999)
   local value = sysbench.rand.uniform_uint64()
   print(type(value), tostring(ffi.typeof(value)), tonumber(value) >= 0)
   local big = 0
   for _ = 1, 100 do
      if sysbench.rand.uniform_uint64() > 0x8000000000000000ULL then
         big = big + 1
      end
   end
   print(big > 20 and big < 80)
   return true
end
