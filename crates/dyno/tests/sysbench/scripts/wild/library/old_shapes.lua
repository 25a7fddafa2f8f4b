-- A module as Lua 5.1 made them.
module("old_shapes", package.seeall)

function area(shape)
   return tonumber(shape.width) * shape.height
end
