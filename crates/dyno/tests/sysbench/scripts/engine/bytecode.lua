-- Compiled Lua: string.dump, loaded from a file, required.
-- servers: none
-- $ --events=1 run

local f = io.open("compiled.lua", "wb")
f:write(string.dump(loadstring("local n = ... return {answer = 42, name = n}", "@original.lua")))
f:close()
f = io.open("stripped.luac", "wb")
f:write(string.dump(function(x) return x * 2 end, true))
f:close()

function event()
   print(require("compiled").answer, require("compiled").name)
   print(dofile("compiled.lua").answer)
   print(loadfile("stripped.luac")(21))
   print(pcall(loadfile("stripped.luac")))
   print(load(string.dump(event)) ~= nil, loadstring("\27junk"))
end
