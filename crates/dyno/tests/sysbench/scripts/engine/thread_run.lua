-- thread_run is a global that a script may replace. It asks for events and times them itself.
-- servers: none
-- $ --events=5 --threads=1 run

ffi.cdef[[
bool sb_more_events(int thread_id);
void sb_event_start(int thread_id);
void sb_event_stop(int thread_id);
]]

print(type(thread_run))

function event()
end

function thread_run(thread_id)
   local events = 0
   while ffi.C.sb_more_events(thread_id) do
      ffi.C.sb_event_start(thread_id)
      event(thread_id)
      ffi.C.sb_event_stop(thread_id)
      events = events + 1
   end
   print("my own loop ran", events)
end
