-- An error at the top level, but only in the states of threads.
-- servers: none
-- $ --threads=1 run

if init_done then
   print("never")
end
local file = io.open("marker")
if file then
   error("the second state fails")
end
io.open("marker", "w"):close()

function event()
end
