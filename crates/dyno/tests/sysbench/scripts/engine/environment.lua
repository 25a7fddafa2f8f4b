-- The whole standard library, ffi, bit and jit are there, and nothing is locked away.
-- servers: none
-- $ --events=1 run

for _, name in ipairs({"string", "table", "math", "io", "os", "debug", "coroutine", "package", "bit", "ffi", "jit"}) do
   print(name, type(_G[name]))
end
print(_VERSION, jit.status(), #jit.version > 0, jit.os)
print(require("ffi") == ffi, require("bit") == bit, package.loaded.ffi == ffi)
print(type(newproxy), type(unpack), type(loadstring), type(setfenv), type(getfenv), type(table.getn), type(table.maxn), type(math.pow), type(gcinfo), type(module))
print(type(debug.traceback()), type(debug.getinfo(1).short_src))
print(bit.band(0xff, 0x0f), bit.bxor(5, 1), bit.lshift(1, 10), bit.tohex(255))
local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end)
print(co(1), co(21))

function event()
   print(select(2, pcall(error, "thrown by pcall")))
end
