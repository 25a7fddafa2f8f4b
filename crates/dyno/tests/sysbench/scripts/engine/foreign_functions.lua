-- The FFI calls the C library.
-- servers: none
-- $ --events=1 run

ffi.cdef[[
int usleep(unsigned int microseconds);
unsigned int getuid(void);
int snprintf(char *text, size_t length, const char *format, ...);
size_t strlen(const char *text);
typedef struct { long tv_sec; long tv_usec; } timeval_of_script;
int gettimeofday(timeval_of_script *now, void *zone);
]]

function event()
   print(ffi.C.usleep(1000), type(ffi.C.getuid()))
   local text = ffi.new("char[32]")
   ffi.C.snprintf(text, 32, "%d-%s", ffi.new("int", 7), "seven")
   print(ffi.string(text), tonumber(ffi.C.strlen(text)), ffi.sizeof("int64_t"))
   local now = ffi.new("timeval_of_script")
   print(ffi.C.gettimeofday(now, nil), tonumber(now.tv_sec) > 1500000000)
   print(ffi.typeof("uint32_t"), ffi.new("uint64_t", 5) + 1, tonumber(ffi.cast("uint32_t", -1)))
   print(pcall(function() return ffi.C.no_such_symbol end))
end
