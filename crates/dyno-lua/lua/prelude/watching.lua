-- Records which options a script reads.
local native = ...

-- From here on `native.options_read` contains the name of each option that is read; "*" when all
-- are iterated.
function native.watch_options()
  local values, read = sysbench.opt, {}
  local watched = setmetatable({}, {
    __index = function(_, name)
      read[name] = true
      return values[name]
    end,
    __newindex = values,
  })
  for _, name in ipairs({ "pairs", "next" }) do
    local plain = _G[name]
    rawset(_G, name, function(first, ...)
      if first == watched then
        read["*"] = true
        first = values
      end
      return plain(first, ...)
    end)
  end
  sysbench.opt, native.options_read = watched, read
end
