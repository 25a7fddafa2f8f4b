local Shape = require "library.shape"

return function(side)
   local square = Shape.new("square", {side = side})
   function square:area()
      return self.side ^ 2
   end
   return square
end
