-- What failed events need.
local native = ...
local event_restart, roll_back = native.scalar.event_restart, native.scalar.roll_back
local error, type, rawget = error, type, rawget
local RESTART_EVENT = sysbench.error.RESTART_EVENT

-- What becomes of a failed event: 1 it is tried again, 2 it was tried too often and is given up, 0 the run is over. Raises what
-- is no restart.
function native.fate(problem)
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
