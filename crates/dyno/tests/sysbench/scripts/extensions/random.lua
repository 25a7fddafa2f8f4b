-- The random functions that sysbench 1.1 added.

function event()
   local low, ones = 0, 0
   for _ = 1, 50000 do
      local value = sysbench.rand.zipfian(1, 1000)
      assert(value >= 1 and value <= 1000 and value % 1 == 0)
      low = value <= 200 and low + 1 or low
      ones = value == 1 and ones + 1 or ones
   end
   print(("zipfian: %.1f of the draws in the lowest fifth, most often the first: %s"):format(low / 50000, tostring(ones > 1500)))
   for _ = 1, 1000 do
      local text = sysbench.rand.varstring(3, 9)
      assert(#text >= 3 and #text <= 9 and text:match("^[0-z]+$"), text)
   end
   print(#sysbench.rand.varstring(5, 5))
   return true
end
