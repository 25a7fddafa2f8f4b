-- The current folder comes first, then src/lua, then LuaRocks, then the system's folders.
-- servers: none
-- $

local paths = {}
for path in package.path:gmatch("[^;]+") do
   paths[#paths + 1] = path
end
print(paths[1], paths[2], paths[3])
print(package.path:find("/%.luarocks/share/lua/5%.1/%?%.lua") ~= nil)
print(package.path:find("/usr/share/lua/5.1/?.lua", 1, true) ~= nil)
print(package.cpath:find("?.so", 1, true) ~= nil)
