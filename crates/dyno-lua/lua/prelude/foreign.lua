-- Functions of sysbench that scripts declare and call by `ffi.C`, besides those for compiled code.
local native = ...
local scalar, rand, ffi = native.scalar, sysbench.rand, ffi
local type, ffi_string, copy = type, ffi.string, ffi.copy

local foreign = {
  sb_rand_uniform_double = scalar.rand_double,
  sb_rand_uniform_uint64 = scalar.rand_bits,
  sb_rand_unique = scalar.rand_unique,
  sb_rand_str = function(text, buffer)
    copy(buffer, rand.string(type(text) == "string" and text or ffi_string(text)))
  end,
  sb_rand_varstr = function(buffer, low, high)
    local text = rand.varstring(low, high)
    copy(buffer, text, #text)
    return #text
  end,
}

function native.symbol(name)
  return foreign[name]
end
