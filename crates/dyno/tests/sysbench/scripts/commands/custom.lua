-- Commands of the script's own, serial ones.
-- servers: none
-- $ own
-- $ --times=3 own
-- $ --threads=3 own
-- $ failing
-- $ nothing
-- $ unknown
-- $ help

sysbench.cmdline.options = {times = {"How often", 1}}

local function own(...)
   for i = 1, sysbench.opt.times do
      print("own", i, sysbench.tid, sysbench.cmdline.command, select("#", ...))
   end
end

sysbench.cmdline.commands = {
   own = {own},
   failing = {function() return false end},
   nothing = {function() return nil end},
}

function event()
end
