-- A format's # is a digit, @ a letter, everything else itself.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   local text = sysbench.rand.string("##-@@-x")
   print(#text, text:match("^%d%d%-%l%l%-x$") ~= nil)
   print(#sysbench.rand.string(""), sysbench.rand.string("plain text!"), type(sysbench.rand.string("#")))
   print(#sysbench.rand.string(("#"):rep(1000)), sysbench.rand.string("###########-###########"):match("^%d+%-%d+$") ~= nil)
   local digits, letters = {}, {}
   for c in sysbench.rand.string(("#"):rep(5000)):gmatch(".") do
      digits[c] = true
   end
   for c in sysbench.rand.string(("@"):rep(5000)):gmatch(".") do
      letters[c] = true
   end
   local function count(set)
      local n = 0
      for _ in pairs(set) do
         n = n + 1
      end
      return n
   end
   print(count(digits), count(letters))
   print((pcall(sysbench.rand.string, nil)))
   return true
end
