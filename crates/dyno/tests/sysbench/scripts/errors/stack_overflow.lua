-- A recursion without end is an error, not a crash.
-- servers: none
-- $ --events=1 --threads=1 run

local function deeper(n)
   return 1 + deeper(n + 1)
end

function event()
   local ok, message = pcall(deeper, 1)
   print(ok, message:match("stack overflow"))
end
