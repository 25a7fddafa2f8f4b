-- An error of event's caller has no place of the script's.
-- servers: none
-- $ --events=1 run

function event()
   error("who called?", 2)
end
