-- `sysbench.cmdline`, and the options.
local native = ...

local about = native.about
local cmdline = {
  argv = about.argv,
  command = about.command,
  script_path = about.script_path,
  PARALLEL_COMMAND = true,
  ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7,
  ARG_MAX = 8,
}
sysbench.cmdline = cmdline
native.cmdline = cmdline
test = about.script_path

-- The entry of a command that has a function.
local function entry(name)
  local commands = cmdline.commands
  local command = type(commands) == "table" and commands[name]
  if type(command) == "table" and type(command[1]) == "function" then
    return command
  end
end

function cmdline.command_defined(name)
  return entry(name) ~= nil
end

function cmdline.command_parallel(name)
  local command = entry(name)
  return command ~= nil and command[2] == cmdline.PARALLEL_COMMAND
end

function cmdline.call_command(name)
  local command = entry(name)
  if not command then
    return false
  end
  local answer = command[1]()
  return answer == nil or answer
end

native.call_command = cmdline.call_command

-- Nothing when there is no such command, else whether it is parallel.
function native.find_command(name)
  if entry(name) then
    return cmdline.command_parallel(name)
  end
end

function native.set_options(values, as_globals)
  sysbench.opt = values
  if as_globals then
    for name, value in pairs(values) do
      if type(rawget(_G, name)) ~= "function" then
        rawset(_G, name, value)
      end
    end
  end
end
