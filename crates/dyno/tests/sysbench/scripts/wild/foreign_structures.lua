-- C structures and functions of libc by the FFI: own structs, arrays, callbacks, metatypes, buffers, time.
-- servers: none
-- $ --events=3 --threads=1 run

local ffi = require("ffi")
ffi.cdef [[
   typedef long time_t;
   typedef struct timeval { time_t tv_sec; long tv_usec; } timeval;
   typedef struct { uint16_t warehouse; uint32_t item; double amount; char name[12]; } order_line;
   int gettimeofday(struct timeval *tv, void *tz);
   int usleep(unsigned int usec);
   size_t strlen(const char *s);
   int snprintf(char *buffer, size_t size, const char *format, ...);
   char *getenv(const char *name);
   void qsort(void *base, size_t count, size_t size, int (*compare)(const int *, const int *));
   int atoi(const char *text);
   void *malloc(size_t size);
   void free(void *pointer);
   int getpid(void);
]]

local Point = ffi.metatype("struct { int x, y; }", {
   __add = function(a, b) return ffi.new(ffi.typeof(a), a.x + b.x, a.y + b.y) end,
   __tostring = function(self) return "(" .. self.x .. "," .. self.y .. ")" end,
   __index = {swap = function(self) self.x, self.y = self.y, self.x end},
})

local function now()
   local tv = ffi.new("timeval")
   ffi.C.gettimeofday(tv, nil)
   return tonumber(tv.tv_sec) + tonumber(tv.tv_usec) / 1e6
end

function thread_init()
   lines = ffi.new("order_line[?]", 8)
   buffer = ffi.new("char[64]")
   events = 0
end

function event()
   events = events + 1
   local start = now()
   ffi.C.usleep(2000)
   assert(now() - start >= 0.002)
   local line = lines[events]
   line.warehouse, line.item, line.amount = 65536 + 3, -1, 2.5
   ffi.copy(line.name, "name-" .. events)
   local length = ffi.C.snprintf(buffer, 64, "%s|%d|%.2f", line.name, ffi.new("int", 42), line.amount)
   local numbers = ffi.new("int[5]", {5, 3, 9, 1, 7})
   local compare = ffi.cast("int (*)(const int *, const int *)", function(a, b) return a[0] - b[0] end)
   ffi.C.qsort(numbers, 5, ffi.sizeof("int"), compare)
   compare:free()
   local sum = Point(1, 2) + Point(3, 4)
   sum:swap()
   local memory = ffi.gc(ffi.C.malloc(16), ffi.C.free)
   ffi.fill(memory, 16, 65)
   print(events, line.warehouse, line.item, ffi.string(buffer, length), numbers[0], numbers[4], tostring(sum),
      ffi.string(memory, 3), tonumber(ffi.C.strlen("five!")), ffi.C.atoi("12x"), ffi.C.getpid() > 1,
      ffi.sizeof("order_line"), ffi.C.getenv("NO_SUCH_NAME") == nil, bit.band(0xff, 0x0f), 5LL / 2, 2 ^ 53)
end
