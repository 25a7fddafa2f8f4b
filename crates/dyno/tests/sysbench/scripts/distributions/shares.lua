-- How two million draws of the default distribution spread over 10,000 rows.

function event()
   local hits = {}
   for row = 1, 10000 do
      hits[row] = 0
   end
   for _ = 1, 2000000 do
      local row = sysbench.rand.default(1, 10000)
      hits[row] = hits[row] + 1
   end
   table.sort(hits, function(a, b) return a > b end)
   local sum, shares, distinct = 0, {}, 0
   for rank, count in ipairs(hits) do
      sum = sum + count
      shares[rank] = sum / 20000
      distinct = count > 0 and rank or distinct
   end
   print("SHARES", distinct, shares[1], shares[100], shares[2000])
   return true
end
