-- The script is loaded once more for the interval lines, whether it has hooks or not.
-- servers: none
-- $ --time=2 --report-interval=1 run
-- $ --events=1 --threads=1 run
-- lines: any order

ffi.cdef("int usleep(unsigned int microseconds);")
io.write("loaded in state " .. sysbench.tid .. "\n")

function event()
   ffi.C.usleep(350000)
end
