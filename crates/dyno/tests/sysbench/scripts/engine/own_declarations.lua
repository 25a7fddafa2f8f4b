-- sysbench's own C functions, as scripts declare them by themselves.
-- servers: none
-- $ --events=3 --threads=1 run

ffi.cdef[[
void sb_counter_inc(int, sb_counter_type);
void sb_event_start(int thread_id);
void sb_event_stop(int thread_id);
bool sb_more_events(int thread_id);
uint32_t sb_rand_uniform(uint32_t, uint32_t);
uint32_t sb_rand_default(uint32_t, uint32_t);
double sb_rand_uniform_double(void);
uint64_t sb_rand_uniform_uint64(void);
uint32_t sb_rand_unique(void);
void sb_rand_str(const char *, char *);
]]

function event(id)
   ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_READ)
   ffi.C.sb_counter_inc(id, "SB_CNT_WRITE")
   ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
   print(ffi.C.sb_rand_uniform(4, 4), ffi.C.sb_rand_default(5, 5), ffi.C.sb_rand_uniform_double() < 1, type(ffi.C.sb_rand_uniform_uint64()), type(ffi.C.sb_rand_unique()))
   local buf = ffi.new("char[10]")
   ffi.C.sb_rand_str("###-@@@", buf)
   print(ffi.string(buf):match("^%d%d%d%-%l%l%l$") ~= nil)
end
