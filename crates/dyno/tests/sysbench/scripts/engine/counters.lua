-- Scripts may bump the program's counters through the FFI.
-- servers: none mariadb
-- $ --events=3 --threads=1 run

ffi.cdef[[
void sb_counter_inc(int thread_id, sb_counter_type type);
]]

function thread_init()
   if sysbench.opt.mysql_db ~= "sbtest" then
      sysbench.sql.driver():connect():disconnect()
   end
end

function event(thread_id)
   ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
   ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_READ)
   ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_WRITE)
   ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_WRITE)
   ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_OTHER)
   ffi.C.sb_counter_inc(thread_id, ffi.C.SB_CNT_RECONNECT)
end
