-- The script given by --test, as it was before version 1.0.
-- servers: none
-- $ --test=legacy/test_option.lua --events=2 run < SCRIPT
-- $ --test=legacy/test_option.lua prepare < SCRIPT

function event()
   print("event", test)
end

function prepare()
   print("prepare", test)
end
