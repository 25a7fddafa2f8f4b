-- The table `sysbench`, the FFI as scripts see it, and what the rest of the prelude is made of. `native` comes from Rust and
-- takes what Rust wants to have.
local native = ...

local ffi, bit = require("ffi"), require("bit")
local cast = ffi.cast

-- A state may grow by half before garbage is collected, where Lua lets it double: there are as many states as threads. With very many
-- threads it may grow by a tenth, since then memory runs out before processor time does. While states are made, all at the same time,
-- most of what they hold is garbage at once and collected as early.
local collectgarbage = collectgarbage
local MANY = 64
local EARLY, USUAL = 110, native.about.threads > MANY and 110 or 150
collectgarbage("setpause", EARLY)

-- Frees what making a state left behind.
function native.settle()
  local pause = collectgarbage("setpause", USUAL)
  if pause ~= EARLY then
    -- The script has chosen a pace of its own.
    collectgarbage("setpause", pause)
  end
  -- The first run ends the cycle in progress and calls finalisers, the second frees what they held.
  collectgarbage()
  collectgarbage()
end

-- Output appears when it is written, in order with that of Rust.
io.stdout:setvbuf("no")

ffi.cdef [[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_EVENT, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
typedef double (*dyno_0)(void);
typedef double (*dyno_1)(double);
typedef double (*dyno_2)(double, double);
typedef double (*dyno_1l)(double, int64_t);
typedef bool (*dyno_bi)(int);
typedef void (*dyno_vi)(int);
typedef void (*dyno_vic)(int, sb_counter_type);
typedef void (*dyno_vicu)(int, sb_counter_type, uint64_t);
typedef uint64_t (*dyno_uic)(int, sb_counter_type);
typedef uint64_t (*dyno_u)(void);
typedef uint32_t (*dyno_r)(uint32_t, uint32_t);
]]

-- Functions of Rust that compiled code calls; those with `sb_` are sysbench's own, which scripts find in `ffi.C`.
local scalar, exported = {}, {}
for name, kind in pairs(native.kinds) do
  local target = name:find("^sb_") and exported or scalar
  target[name] = cast(kind, native.addresses[name])
end
native.kinds, native.addresses = nil, nil
native.scalar = scalar

local C, pcall, error = ffi.C, pcall, error
local function symbol(name)
  return C[name]
end

ffi.C = setmetatable(exported, {
  -- An unknown name is the mistake of whoever asks for it, not of this line.
  __index = function(_, name)
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

-- A mistake that shows in here, such as a dot where a colon belongs, is told with the place in the script that it came from. The
-- loop of events has no part in mistakes.
local type, match, format, getinfo, xpcall = type, string.match, string.format, debug.getinfo, xpcall
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
