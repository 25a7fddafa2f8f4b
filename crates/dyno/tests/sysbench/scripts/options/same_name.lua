-- A script that declares an option of the program.
-- servers: none
-- $ --events=3 run

sysbench.cmdline.options = {events = {"Mine", 5}, mine = {"Mine too", 6}}

function event()
   print(sysbench.opt.events, sysbench.opt.mine)
   return true
end
