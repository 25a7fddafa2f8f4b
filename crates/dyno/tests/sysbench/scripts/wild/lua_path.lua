-- Modules found by LUA_PATH, after which the usual places still come, and LUA_CPATH.
-- servers: none
-- environment: LUA_PATH=./wild/library/?.lua;; LUA_CPATH=./nowhere/?.so
-- $ --events=1 --threads=1 run

local shapes = require("old_shapes")

print(package.path:find("./wild/library/?.lua;", 1, true) == 1, package.path:find("./src/lua/?.lua", 1, true) ~= nil)
print(package.cpath)
print(select(2, pcall(require, "no_such_shape")):match("no file './wild/library/no_such_shape.lua'"))

function event()
   print(shapes.area {width = 2, height = 3}, old_shapes == shapes, shapes._NAME)
end
