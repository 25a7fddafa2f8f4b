-- Tracebacks, xpcall with arguments, error levels, nested pcall, assert with tables.
-- servers: none
-- $ --events=1 run

local function inner(a) error("inner " .. a, 2) end
local function outer(a) inner(a) end

function event()
   print(xpcall(outer, function(m) return "handled " .. m end, 5))
   print(select("#", debug.traceback()) == 1, type(debug.traceback("message", 1)))
   print((debug.traceback("message", 1):gsub("\n.*", "")))
   print(pcall(pcall, error, "x"))
   print(pcall(error, setmetatable({}, {__tostring = function() return "object" end})))
   print(select(2, pcall(error, {1, 2}))[2])
   print(pcall(assert, false, {1}) , select("#", pcall(assert, false)))
   print(pcall(error, "level 0", 0), pcall(error, "level 1", 1), pcall(error, "level 2", 2))
   print(pcall(string.rep, "x", -1), pcall(string.format, "%d", "x"), pcall(tostring))
   print(pcall(setmetatable, 5, {}), pcall(next, {}, "no"), pcall(rawset, 5, 1, 1))
   print(pcall(ipairs), pcall(table.concat, {1, {}, 3}), pcall(table.insert, {}, 1, 2, 3))
   print(tostring(nil), tostring(1e15), 2^53, 1e16, 0.1, -0.0, 1/0, -1/0, 0/0 ~= 0/0, 1e300 * 1e10, 100000000000000, 123456789012345678)
   print(string.format("%5.2f %g %e %i %u %c %o %X %q %s %%", 3.14159, 1e20, 12345.678, 42, 7, 65, 8, 255, 'a"b\n\0c', {} ~= nil))
   print(string.format("%-10s|%10s|%.3s", "left", "right", "truncated"), ("%d"):format(-0.9), ("%x"):format(-1), ("%d"):format(2^53), ("%.0f"):format(0.5), ("%s"):format(12LL), ("%d"):format(12LL))
   print(tonumber("1e5"), tonumber("0x1p4"), tonumber(""), tonumber("12abc"), tonumber("ff", 16), tonumber("8", 8), pcall(tonumber))
   print(#"é", ("é"):byte(1, -1), ("abc"):rep(2, ","), ("x"):rep(0), ("hello world"):find("o w"), ("hello"):find("l", 1, true), ("a.b"):find(".", 1, true))
   print(table.unpack, table.pack, math.tointeger, string.pack, utf8, bit32, table.move and 1, unpack({1, 2, 3}, 2))
   print(os.date("%Y-%m-%d", 0):sub(1, 3), os.time({year = 2000, month = 1, day = 1, hour = 0}) > 0, os.setlocale(), os.setlocale("C"))
   print(math.random() < 1, math.random(5) <= 5, pcall(math.random, 5, 1), math.floor(-1.5), math.ceil(-1.5), math.huge, math.max(1, 2), math.log(8, 2), math.log10(100), math.ldexp(1, 3), math.frexp(8))
end
