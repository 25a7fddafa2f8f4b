-- An error in event() ends the run; there is no report.
-- servers: none
-- $ --events=5 --threads=1 run

local events = 0

function event()
   events = events + 1
   print("event", events)
   if events == 3 then
      error("thrown in event")
   end
end

function thread_done()
   print("thread_done is not called")
end

function done()
   print("done")
end
