#!/usr/bin/env sysbench
-- The first line may name the program.
-- servers: none
-- $ --events=1 run

function event()
   print("event")
end
