-- Threads draw different numbers.
-- servers: none
-- $ --events=3 --threads=3 --rand-seed=7 run

local text

function thread_init(thread_id)
   local numbers = {}
   for i = 1, 5 do
      numbers[i] = sysbench.rand.uniform(1, 1000000)
   end
   local file = io.open("numbers." .. thread_id, "w")
   file:write(table.concat(numbers, " "))
   file:close()
end

function event()
end

function done()
   local function read(thread)
      return io.open("numbers." .. thread):read("*a")
   end
   print(read(0) ~= read(1), read(1) ~= read(2), read(0) ~= read(2))
end
