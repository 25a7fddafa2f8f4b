-- `sysbench.rand`: numbers by compiled calls, texts by Rust.
local native = ...
local scalar = native.scalar
local type, tonumber, error, format = type, tonumber, error, string.format

-- Numbers of arguments that are none yet: texts that look like numbers are taken, as sysbench 0.5 took them.
local function numbers(name, a, b)
  local low, high = tonumber(a), tonumber(b)
  if not low or not high then
    local at, value = 2, b
    if not low then
      at, value = 1, a
    end
    error(format("bad argument #%d to '%s' (number expected, got %s)", at, name, type(value)), 3)
  end
  return low, high
end

local rand = {}
sysbench.rand = rand

for _, name in ipairs { "default", "uniform", "gaussian", "special", "pareto", "zipfian" } do
  local draw = scalar["rand_" .. name]
  rand[name] = function(a, b)
    if type(a) ~= "number" or type(b) ~= "number" then
      a, b = numbers(name, a, b)
    end
    return draw(a, b)
  end
end

local unique, double, bits = scalar.rand_unique, scalar.rand_double, scalar.rand_bits

function rand.unique() return unique() end
function rand.uniform_double() return double() end
function rand.uniform_uint64() return bits() end

local random_text, random_length, pattern, rand_text = native.random_text, native.random_length, native.pattern, scalar.rand_text
local ffi_string, transfer, transfer_max = ffi.string, ffi.cast("const char *", native.transfer), native.transfer_max

-- Patterns that Rust knows by number. Scripts have few; of those that make new ones all the time the first are kept.
local PATTERNS_MAX = 200
local patterns, pattern_count = {}, 0

-- The number of a pattern; nothing when it must be handed over as a text.
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

function rand.varstring(low, high)
  return random_length(numbers("varstring", low, high))
end
