-- Reports at fixed times start counting anew.
-- servers: none
-- $ --time=0 --report-checkpoints=1 --threads=1 run

ffi.cdef("int usleep(unsigned int microseconds);")

local events = 0

function event()
   -- Two before the checkpoint and one after it, however late it comes.
   events = events + 1
   if events == 4 then
      return true
   end
   ffi.C.usleep(events == 3 and 3000000 or 1000)
end
