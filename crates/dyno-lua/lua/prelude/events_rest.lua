-- Handles failed events.
local native = ...
local event_restart, roll_back = native.scalar.event_restart, native.scalar.roll_back
local error, type, rawget = error, type, rawget
local RESTART_EVENT = sysbench.error.RESTART_EVENT

-- The result for a failed event: 1 retry, 2 retried too often and given up, 0 the run is over.
-- Raises errors that are not restarts.
function native.fate(problem)
  if type(problem) ~= "table" or problem.errcode ~= RESTART_EVENT then
    error(problem, 0)
  end
  local answer = event_restart()
  if answer == 0 then
    return answer
  end
  -- The next event, or the retry, finds the connection in the state of a restarted event.
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
