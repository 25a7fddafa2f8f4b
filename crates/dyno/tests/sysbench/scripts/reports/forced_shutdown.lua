-- A run that does not end in time is ended by force.
-- servers: none
-- $ --time=1 --forced-shutdown=1 --threads=1 run

ffi.cdef("int usleep(unsigned int microseconds);")

function event()
   ffi.C.usleep(5000000)
end
