-- Modules are found from the current folder, by dots and by slashes, as init.lua, and where package.path says.
-- servers: none
-- $ --events=1 run

package.path = "./engine/?.lua;./engine/?/init.lua;" .. package.path
local square = require "library.shape.square"
local Shape = require "library/shape"
local json = require("json.encode")
local again = require "engine.json.encode"

print(tostring(square(3)), tostring(Shape.new("point")))
print(json.encode({list = {1, 2.5, "a\"b"}, flag = true, empty = {}, nested = {x = {y = "z"}}}))
print(json == again, json.encode({1}) == again.encode({1}))
print(pcall(require, "engine.no_such_module") == false)
print(package.loaded["json.encode"] == json)

function event()
   print(json.encode({thread = sysbench.tid}))
end
