-- The same seed gives the same numbers to one thread; without one they differ.
-- servers: none
-- $ --events=1 --threads=1 --rand-seed=42 run
-- $ --events=1 --threads=1 --rand-seed=42 run
-- $ --events=1 --threads=1 --rand-seed=43 run
-- $ --events=1 --threads=1 run

function event()
   local numbers = {}
   for i = 1, 5 do
      numbers[i] = sysbench.rand.uniform(1, 1000000) .. sysbench.rand.string("@@@")
   end
   local text = table.concat(numbers, " ")
   local file = io.open("numbers." .. sysbench.opt.rand_seed)
   if file then
      print("as before", file:read("*a") == text)
      file:close()
   else
      file = io.open("numbers." .. sysbench.opt.rand_seed, "w")
      file:write(text)
      file:close()
      local other = io.open("numbers.42")
      print("as with seed 42", other:read("*a") == text)
   end
   return true
end
