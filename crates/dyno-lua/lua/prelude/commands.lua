-- Custom commands of a script, and the command line. Most threads need neither of them.
local native = ...
local cmdline = sysbench.cmdline
local own = { argv = native.argv() }

-- The entry of a command that has a function.
local function entry(name)
  local commands = cmdline.commands
  local command = type(commands) == "table" and commands[name]
  if type(command) == "table" and type(command[1]) == "function" then
    return command
  end
end

function own.command_defined(name)
  return entry(name) ~= nil
end

function own.command_parallel(name)
  local command = entry(name)
  return command ~= nil and command[2] == cmdline.PARALLEL_COMMAND
end

function own.call_command(name)
  local command = entry(name)
  if not command then
    return false
  end
  local answer = command[1]()
  return answer == nil or answer
end

native.call_command = own.call_command

-- Returns nothing when there is no such command, otherwise whether it is parallel.
function native.find_command(name)
  if entry(name) then
    return own.command_parallel(name)
  end
end

for name, value in pairs(own) do
  if rawget(cmdline, name) == nil then
    cmdline[name] = value
  end
end
