-- A proxy with a finalizer writes something when a state ends, as reports do for their closing bracket.
-- servers: none
-- $ --events=1 --threads=1 run

print("[")
closing = newproxy(true)
getmetatable(closing).__gc = function()
   print("]")
end

function event()
end
