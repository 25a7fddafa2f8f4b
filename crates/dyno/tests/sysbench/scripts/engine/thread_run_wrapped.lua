-- The loop that is there may be called by the script's own.
-- servers: none
-- $ --events=4 --threads=1 run

local original = thread_run
local events = 0

function event()
   events = events + 1
end

function thread_run(thread_id)
   print("before", thread_id)
   local ok, message = pcall(original, thread_id)
   print("after", events, ok, message)
end
