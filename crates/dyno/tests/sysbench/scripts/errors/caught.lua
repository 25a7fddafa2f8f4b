-- Errors that a script catches itself are its own matter.
-- servers: none
-- $ --events=2 --threads=1 run

function event()
   print(pcall(error, "caught"))
   print(xpcall(function() error("with a handler", 0) end, function(message) return "handled: " .. message end))
   print(select("#", pcall(function() return 1, 2, 3 end)))
   print(pcall(error))
end
