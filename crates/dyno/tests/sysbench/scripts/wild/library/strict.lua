-- No undeclared globals: as LuaRocks' strict does it.
local mt = getmetatable(_G)
if mt == nil then
   mt = {}
   setmetatable(_G, mt)
end
mt.__declared = {}
mt.__newindex = function(t, n, v)
   if not mt.__declared[n] then
      local d = debug.getinfo(2, "S")
      local w = d and d.what or "C"
      if w ~= "main" and w ~= "C" then
         error("assign to undeclared variable '" .. n .. "'", 2)
      end
      mt.__declared[n] = true
   end
   rawset(t, n, v)
end
mt.__index = function(t, n)
   local d = debug.getinfo(2, "S")
   if not mt.__declared[n] and d and d.what ~= "C" then
      error("variable '" .. n .. "' is not declared", 2)
   end
   return rawget(t, n)
end
