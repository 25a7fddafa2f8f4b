-- Rarely used functions of `sysbench.rand`.
local native = ...
local scalar, rand = native.scalar, sysbench.rand
local type, tonumber, error, format = type, tonumber, error, string.format

-- Converts arguments to numbers: texts that look like numbers are accepted, as in sysbench 0.5.
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
native.numbers = numbers

local unique, double, bits = scalar.rand_unique, scalar.rand_double, scalar.rand_bits
local random_length = native.random_length

local rest = {}

function rest.unique() return unique() end
function rest.uniform_double() return double() end
function rest.uniform_uint64() return bits() end

function rest.varstring(low, high)
  return random_length(numbers("varstring", low, high))
end

-- One by one, so that functions that a script has replaced or removed stay so.
function native.more_of_rand(name)
  local found = rest[name]
  if found then
    rest[name], rand[name] = nil, found
  end
  return found
end
