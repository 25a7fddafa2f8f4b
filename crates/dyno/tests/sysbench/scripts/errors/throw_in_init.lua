-- An error in init().
-- servers: none
-- $ --events=1 run

function init()
   error("thrown in init")
end

function event()
   print("not reached")
end
