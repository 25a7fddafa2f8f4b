-- The loop of events. `thread_run` is an ordinary global: a script may have its own.
local native = ...
local scalar = native.scalar
local next_event, event_abandon, event_restart, roll_back =
  scalar.next_event, scalar.event_abandon, scalar.event_restart, scalar.roll_back
local xpcall, placed, error, type, rawget = xpcall, native.placed, error, type, rawget
local RESTART_EVENT = sysbench.error.RESTART_EVENT

-- What becomes of a failed event: 1 it is tried again, 2 it was tried too often and is given up, 0 the run is over. Raises what
-- is no restart.
local function fate(problem)
  if type(problem) ~= "table" or problem.errcode ~= RESTART_EVENT then
    error(problem, 0)
  end
  local answer = event_restart()
  if answer == 0 then
    return answer
  end
  -- Whatever comes next, this event or another one, finds the connection as a restarted event does.
  local connection = problem.connection
  if type(connection) == "table" and rawget(connection, "id") then
    roll_back(connection.id)
  end
  local hook = sysbench.hooks.before_restart_event
  if hook then
    hook(problem)
  end
  return answer
end

-- Events from one that has begun to the last. One protected call around them all, because one around each would cost more
-- than an event that does nothing.
local function run_events(thread)
  repeat
    if event(thread) then
      event_abandon()
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
    local answer = fate(problem)
    if answer == 0 then
      event_abandon()
      return
    elseif answer == 2 and next_event(0) == 0 then
      return
    end
    is_done, problem = xpcall(run_events, placed, thread)
  end
end
