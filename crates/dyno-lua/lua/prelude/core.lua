-- The table `sysbench`, the FFI as scripts see it, and functions for the rest of the prelude.
-- `native` is filled by Rust, and receives the functions that Rust calls.
local native = ...

local ffi, bit = require("ffi"), require("bit")
local cast, type, find, rawset = ffi.cast, type, string.find, rawset

-- A state may grow by half before garbage is collected, where Lua's default is to double: there are
-- as many states as threads. With very many threads it may grow by a tenth, because memory is then
-- scarcer than processor time. While states are created, all at the same time, most of what they
-- hold is garbage at once and collected as early.
local collectgarbage = collectgarbage
local MANY = 64
local EARLY, USUAL = 110, native.about.threads > MANY and 110 or 150
collectgarbage("setpause", EARLY)

-- Frees what creating a state left behind.
function native.collect_garbage()
  local pause = collectgarbage("setpause", USUAL)
  if pause ~= EARLY then
    -- The script has set its own pace.
    collectgarbage("setpause", pause)
  end
  -- The first run completes the current cycle and calls finalisers, the second frees their objects.
  collectgarbage()
  collectgarbage()
end

-- Output appears when it is written, in order with that of Rust.
io.stdout:setvbuf("no")
if not native.about.alone then
  io.output("/dev/null")
  io.stdout = io.output()
  function print() end
end

-- A script that exits the program ends a run without its report: where others depend on the run,
-- this is an error of the script. Otherwise it ends the program as in sysbench, but not with
-- success while events are running.
local error, exit, tostring = error, os.exit, tostring
function os.exit(code, ...)
  if not native.about.alone then
    error("the script called os.exit(" .. tostring(code) .. ")", 2)
  end
  if native.about.running and (code == nil or code == 0 or code == true) then
    io.stderr:write("FATAL: the script called os.exit(", tostring(code), ") in a thread of the run\n")
    code = 1
  end
  exit(code, ...)
end

ffi.cdef [[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_EVENT, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
]]

-- Rust functions for compiled code, by name, created on first use; those with `sb_` are sysbench's
-- own, which scripts find in `ffi.C`.
local address, types = native.address, {}
local function made(target, name)
  local kind, place = address(name)
  if kind then
    types[kind] = types[kind] or ffi.typeof(kind)
    local made_one = cast(types[kind], place)
    rawset(target, name, made_one)
    return made_one
  end
end
native.scalar = setmetatable({}, { __index = made })

local C, pcall, error = ffi.C, pcall, error
local function symbol(name)
  return C[name]
end

local ends = { exit = true, _exit = true, _Exit = true, quick_exit = true, abort = true }
ffi.C = setmetatable({}, {
  -- An unknown name is an error of the caller, not of this line.
  __index = function(target, name)
    if ends[name] and not native.about.alone then
      error("the script asked for ffi.C." .. name, 2)
    end
    local own = type(name) == "string" and find(name, "^sb_") and made(target, name)
    if own then
      return own
    end
    local is_known, value = pcall(symbol, name)
    if is_known then
      return value
    end
    if not native.symbol then
      native.lazy("foreign")
    end
    return native.symbol(name) or error(value:gsub("^.-:%d+: ", ""), 2)
  end,
  __newindex = function(_, name, value) C[name] = value end,
})

_G.ffi, _G.bit = ffi, bit

local about = native.about
sysbench = {
  tid = about.tid,
  version = about.version,
  version_string = about.version_string,
  error = { NONE = 0, RESTART_EVENT = 1 },
  hooks = {},
}

-- An error raised in here, such as a dot instead of a colon, is reported with the calling line of
-- the script. The event loop is not part of error handling.
local type, match, format, getinfo, xpcall = type, string.match, string.format, debug.getinfo, xpcall
-- Parts of the prelude that are loaded later may find an option named "debug" there.
native.getinfo = getinfo
function native.placed(problem)
  local part, text
  if type(problem) == "string" then
    part, text = match(problem, "^%[sysbench%.([%w_]+)%]:[^:]*: (.*)")
  end
  if not part or part == "events" then
    return problem
  end
  local level, info = 2, nil
  repeat
    info = getinfo(level, "Sl")
    level = level + 1
  until not info or info.what ~= "C" and not match(info.short_src, "^%[sysbench%.")
  if match(text, "local 'self'") then
    text = text .. "; is there a dot where a colon belongs?"
  end
  return info and format("%s:%d: %s", info.short_src, info.currentline, text) or text
end
local placed = native.placed

function native.pcall(call, ...)
  return xpcall(call, placed, ...)
end
