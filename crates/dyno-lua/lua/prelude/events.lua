-- The event loop. `thread_run` is an ordinary global: a script may define its own.
local native = ...
local scalar = native.scalar
local next_event, xpcall, placed = scalar.next_event, xpcall, native.placed

-- Runs events from one that has begun to the last. One protected call around all of them, because
-- one around each would cost more than an empty event.
local function run_events(thread)
  repeat
    if event(thread) then
      scalar.event_abandon()
      return
    end
  until next_event(1) == 0
end

function thread_run(thread)
  if next_event(0) == 0 then
    return
  end
  local is_done, problem = xpcall(run_events, placed, thread)
  while not is_done do
    local answer = native.fate(problem)
    if answer == 0 then
      scalar.event_abandon()
      return
    elseif answer == 2 and next_event(0) == 0 then
      return
    end
    is_done, problem = xpcall(run_events, placed, thread)
  end
end
native.thread_run = thread_run
