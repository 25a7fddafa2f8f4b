-- The histogram of latencies.
-- servers: none
-- $ --histogram --events=3 --threads=1 run
-- $ --histogram --events=0 --time=0 help

ffi.cdef("int usleep(unsigned int microseconds);")

function event()
   ffi.C.usleep(1000)
end
