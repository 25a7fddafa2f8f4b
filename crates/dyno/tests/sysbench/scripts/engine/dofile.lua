-- Files beside the script are executed by dofile and loadfile.
-- servers: none
-- $ --events=1 run

local folder = string.match(test, "(.*/)") or ""
dofile(folder .. "library/values.lua")
local chunk = assert(loadfile(folder .. "library/values.lua"))
print(value_of("seven"), chunk())
print(loadfile(folder .. "library/nothing.lua"))
print(pcall(dofile, folder .. "library/nothing.lua"))

function event()
   print(value_of("eight"))
end
