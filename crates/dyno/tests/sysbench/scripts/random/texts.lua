-- Numbers as texts are refused or taken, by the same functions.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   print((pcall(sysbench.rand.uniform, "1", "10")))
   print((pcall(sysbench.rand.default, "1", 10)))
   print((pcall(sysbench.rand.uniform, nil, 10)))
   print((pcall(sysbench.rand.uniform, {}, 10)))
   print((pcall(sysbench.rand.uniform)))
   return true
end
