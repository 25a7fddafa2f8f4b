-- Neither limit is set; the script ends the run itself.
-- servers: none
-- $ --time=0 --events=0 --threads=1 run

local events = 0

function event()
   events = events + 1
   return events > 5
end
