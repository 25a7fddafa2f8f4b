-- The time limit is looked at between events, never within one.
-- servers: none
-- $ --time=1 --threads=2 run
-- lines: any order

ffi.cdef("int usleep(unsigned int microseconds);")

local events = 0

function event()
   events = events + 1
   ffi.C.usleep(650000)
end

function thread_done(thread_id)
   io.write(("events of thread %d: %d\n"):format(thread_id, events))
end
