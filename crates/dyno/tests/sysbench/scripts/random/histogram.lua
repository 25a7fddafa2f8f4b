-- A histogram of the script's own.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   local histogram = sysbench.histogram.new(100, 1, 1000)
   for i = 1, 100 do
      histogram:update(i)
      histogram:update(500)
   end
   histogram:print()
   return true
end
