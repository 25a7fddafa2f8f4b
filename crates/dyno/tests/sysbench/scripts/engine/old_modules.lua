-- Old modules: module(...), package.seeall, package.preload, package.loaded, package.loaders, required twice.
-- servers: none
-- $ --events=1 run

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
package.path = folder .. "?.lua;" .. folder .. "library/?.lua;" .. package.path

package.preload["made.here"] = function(name)
   return {name = name, arguments = select("#", name)}
end

table.insert(package.loaders, function(name)
   if name:match("^virtual%.") then
      return function(...) return {virtual = ..., n = select("#", ...)} end
   end
   return "\n\tno virtual '" .. name .. "'"
end)

local old = require("old_module")
local virtual = require("virtual.one")

function event()
   print(old.name(), old.twice(4), old_module == old, package.loaded.old_module == old)
   print(require("made.here").name, require("made.here").arguments)
   print(virtual.virtual, virtual.n, require("virtual.one") == virtual)


   print(type(package.config), package.config:sub(1, 1), type(package.cpath), type(package.loadlib))
   print(old.from_c and 1 or 0, old._NAME, old._PACKAGE == "", type(old._M))
   package.loaded.old_module = nil
   local again = require("old_module")
   print(again == old, again.loads)
end
