-- unique() never repeats a number, over all threads.
-- servers: none
-- $ --events=20000 --time=0 --threads=4 run

-- Threads write what they got into files that the main state reads.
local numbers = {}

function event()
   numbers[#numbers + 1] = sysbench.rand.unique()
end

function thread_done(thread_id)
   local file = io.open("numbers." .. thread_id, "w")
   for _, number in ipairs(numbers) do
      file:write(number, "\n")
   end
   file:close()
end

function done()
   local seen, count, high = {}, 0, 0
   for thread = 0, 3 do
      for line in io.lines("numbers." .. thread) do
         local value = tonumber(line)
         assert(not seen[value], "seen twice: " .. line)
         assert(value >= 0 and value < 2 ^ 32 and value % 1 == 0)
         seen[value] = true
         count = count + 1
         high = value > 2 ^ 31 and high + 1 or high
      end
   end
   print(count, high > 8000 and high < 12000)
end
