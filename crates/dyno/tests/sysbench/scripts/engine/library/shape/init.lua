-- Classes by metatables, as many libraries have them.
local Shape = {}
Shape.__index = Shape
Shape.__tostring = function(self) return self.name .. " of area " .. self:area() end

function Shape.new(name, fields)
   return setmetatable(fields or {}, {__index = setmetatable({name = name}, Shape), __tostring = Shape.__tostring})
end

function Shape:area()
   return 0
end

return Shape
