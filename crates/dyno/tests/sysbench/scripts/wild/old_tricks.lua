-- Lua of its day: loadstring, setfenv, getfenv, table.getn, newproxy, goto, varargs, closures over globals, os and string calls.
-- servers: none
-- $ --events=2 --threads=1 run

local counters = setmetatable({}, {__index = function() return 0 end})

local function count(name, ...)
   counters[name] = counters[name] + select("#", ...)
   return counters[name]
end

local function sandboxed(text)
   local chunk = assert(loadstring(text, "=text"))
   setfenv(chunk, setmetatable({}, {__index = _G}))
   return chunk()
end

function init()
   print(getfenv(1) == _G, table.getn({1, 2, 3}), table.maxn({[10] = 1}), unpack({1, nil, 3}, 1, 3))
   print(sandboxed("x = 5; return x, type(_G.x)"), rawget(_G, "x"))
   print(pcall(loadstring, nil), loadstring("syntax error here"))
   print(math.pow(2, 10), math.fmod(-5, 3), -5 % 3, math.mod, string.gfind, bit.tohex(255), bit.bxor(5, 1))
   print(("%5.1f|%-5s|%05d|%x|%q"):format(3.14159, "ab", 42, 255, "a\nb\"c"), ("%s %s"):format(nil, true))
   print(#arg == 0, arg[0], tostring(1e15), tostring(2 ^ 31), 10 / 2, 7 / 2, 1e100, -0.0, 1 / 0)
   print(string.format("%d %d", 3.99, "7"), "10" + 5, 10 .. "", tonumber("0x10"), tonumber("z", 36), tonumber(" 5 "), tonumber("5x"))
   print(("a,b,,c"):gsub(",", ";"), ("key = value"):match("^(%w+)%s*=%s*(%w+)$"), ("x"):rep(3, "-"))
   print(os.getenv("NO_SUCH_VARIABLE"), type(os.time()), os.date("!%H:%M:%S", 3661), io.type(io.stdout), jit.version_num >= 20100)
   for name in ("b a c"):gmatch("%a") do
      if name == "a" then goto continue end
      count("letters", name, name)
      ::continue::
   end
   print(counters.letters, counters.none, next({}), type(newproxy(true)), collectgarbage("count") > 0)
   local t = {5, 2, 8, 1}
   table.sort(t, function(a, b) return a > b end)
   table.insert(t, 1, 99)
   print(table.concat(t, " "), table.remove(t), #t, ipairs(t) ~= nil, debug.traceback ~= nil, debug.getinfo(1, "S").short_src)
   io.write("written ", 1, " ", 2.5, "\n")
   print(require("bit") == bit, require("ffi") == ffi, package.loaded.jit == jit, pcall(require, "no.such.module") == false)
end

function event()
   buffer = buffer or {}
   buffer[#buffer + 1] = ("%d"):format(#buffer)
   print(table.concat(buffer, ","), _VERSION)
end
