-- `sysbench.rand`: numbers from compiled calls, texts from Rust.
local native = ...
local scalar = native.scalar
local type, error = type, error

local rand = {}
sysbench.rand = rand

-- Created on first use; rarely used functions are in `rand_rest`.
local DRAWS = { default = true, uniform = true, gaussian = true, special = true, pareto = true, zipfian = true }
setmetatable(rand, {
  __index = function(_, name)
    if not DRAWS[name] then
      return native.more_of_rand(name)
    end
    -- A function that a script has removed stays removed.
    DRAWS[name] = nil
    local draw = scalar["rand_" .. name]
    rand[name] = function(a, b)
      if type(a) ~= "number" or type(b) ~= "number" then
        a, b = native.numbers(name, a, b)
      end
      return draw(a, b)
    end
    return rand[name]
  end,
})

local random_text, pattern, rand_text = native.random_text, native.pattern, scalar.rand_text
local ffi_string, transfer, transfer_max = ffi.string, ffi.cast("const char *", native.transfer), native.transfer_max

-- Patterns that Rust knows by number. Scripts have few; of scripts that keep creating new ones, the
-- first are kept.
local PATTERNS_MAX = 200
local patterns, pattern_count = {}, 0

-- The number of a pattern; nothing when it must be passed as text.
function native.pattern_number(text)
  local number = patterns[text or 0]
  if not number and type(text) == "string" and pattern_count < PATTERNS_MAX and #text <= transfer_max then
    number = pattern(text)
    patterns[text], pattern_count = number, pattern_count + 1
  end
  return number
end
local pattern_number = native.pattern_number

function rand.string(text)
  local number = pattern_number(text)
  if number then
    return ffi_string(transfer, rand_text(number))
  end
  return random_text(text) or error("bad argument #1 to 'string' (string expected, got " .. type(text) .. ")", 2)
end
