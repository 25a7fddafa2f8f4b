-- `sysbench.cmdline`, and the options.
local native = ...

local about = native.about
local cmdline = {
  command = about.command,
  script_path = about.script_path,
  PARALLEL_COMMAND = true,
  ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7,
  ARG_MAX = 8,
}
sysbench.cmdline = cmdline
native.cmdline = cmdline
test = about.script_path

function native.set_options(values, globals)
  sysbench.opt = values
  for _, name in ipairs(globals) do
    if type(rawget(_G, name)) ~= "function" then
      rawset(_G, name, values[name])
    end
  end
end
