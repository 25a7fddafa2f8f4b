-- The time limit is looked at between events, never within one.
-- servers: none
-- $ --time=2 --threads=2 run
-- lines: any order

ffi.cdef("int usleep(unsigned int microseconds);")

local events = 0

function event()
   events = events + 1
   if events == 2 then
      -- From within the limit to beyond it.
      ffi.C.usleep(2500000)
   end
end

function thread_done(thread_id)
   io.write(("events of thread %d: %d\n"):format(thread_id, events))
end
