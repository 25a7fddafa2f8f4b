-- The loop of events. `thread_run` is an ordinary global: a script may have its own.
local native = ...
local scalar = native.scalar
local next_event, event_abandon, event_restart, roll_back =
  scalar.next_event, scalar.event_abandon, scalar.event_restart, scalar.roll_back
local pcall, error, type, rawget = pcall, error, type, rawget
local RESTART_EVENT = sysbench.error.RESTART_EVENT

-- Whether a failed event is to be tried again; raises what is no restart.
local function is_restarted(problem)
  if type(problem) ~= "table" or problem.errcode ~= RESTART_EVENT then
    error(problem, 0)
  end
  local answer = event_restart()
  if answer == 0 then
    return false
  elseif answer == 2 then
    error("the event was restarted too often" .. (problem.sql_errmsg and ": " .. problem.sql_errmsg or ""), 0)
  end
  local connection = problem.connection
  if type(connection) == "table" and rawget(connection, "id") then
    roll_back(connection.id)
  end
  local hook = sysbench.hooks.before_restart_event
  if hook then
    hook(problem)
  end
  return true
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
  local is_done, problem = pcall(run_events, thread)
  while not is_done do
    if not is_restarted(problem) then
      event_abandon()
      return
    end
    is_done, problem = pcall(run_events, thread)
  end
end
