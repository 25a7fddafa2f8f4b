-- A file that is a script and a module: what `...` says at the top.
-- servers: none
-- $ --events=1 run
-- $ < SCRIPT --events=1 run

local name = ...
print("top", select("#", ...), name)
if name then
   return {imported = true}
end
function event() print("main", arg) end
