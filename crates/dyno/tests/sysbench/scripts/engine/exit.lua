-- os.exit ends the program with the script's code.
-- servers: none
-- $ --events=10 run
-- $ prepare

function prepare()
   print("leaving")
   os.exit(0)
end

function event()
   os.exit(7)
end
