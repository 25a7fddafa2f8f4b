-- Reports at fixed times start counting anew.
-- servers: none
-- $ --time=2 --report-checkpoints=1 --threads=1 run

ffi.cdef("int usleep(unsigned int microseconds);")

function event()
   ffi.C.usleep(440000)
end
