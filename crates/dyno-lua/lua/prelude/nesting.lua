-- How deep a script may nest calls that go from Lua through C to Lua again. LuaJIT limits calls only by the memory of its own stack, but these take stack of
-- the thread, more than 8 KB for each `string.gsub`; and each coroutine has a stack of its own in Lua. The limit fits what `STACK` in Rust says.
local error, getinfo, gsub, setmetatable, type = error, debug.getinfo, string.gsub, setmetatable, type
local resume, running, wrap = coroutine.resume, coroutine.running, coroutine.wrap
local LEVELS = 600
local TOO_DEEP = "stack overflow (too many nested calls of string.gsub or coroutines)"

-- Calls on the stacks below a coroutine that runs, by that coroutine.
local below = setmetatable({}, { __mode = "k" })

function string.gsub(text, pattern, by, ...)
  local kind = type(by)
  if kind == "function" or kind == "table" then
    local left = LEVELS - (below[running() or 0] or 0)
    if left <= 0 or getinfo(left, "l") then
      error(TOO_DEEP, 2)
    end
  end
  return gsub(text, pattern, by, ...)
end

-- As many calls as a coroutine that begins now has below it, or up to twice as many; nothing where these are too many.
local function deeper()
  local levels = 4
  while levels < LEVELS and getinfo(levels, "l") do
    levels = 2 * levels
  end
  levels = levels + (below[running() or 0] or 0)
  return levels < LEVELS and levels
end

function coroutine.resume(thread, ...)
  local levels = deeper()
  if not levels then
    return false, TOO_DEEP
  end
  if type(thread) == "thread" then
    below[thread] = levels
  end
  return resume(thread, ...)
end

function coroutine.wrap(body)
  if type(body) ~= "function" then
    return wrap(body)
  end
  local thread, levels
  local go = wrap(function(...)
    thread = running()
    below[thread] = levels
    return body(...)
  end)
  return function(...)
    levels = deeper()
    if not levels then
      error(TOO_DEEP, 2)
    end
    if thread then
      below[thread] = levels
    end
    return go(...)
  end
end
