-- An event that returns anything but nil and false ends its thread, and is not counted.
-- servers: none
-- $ --events=100 --threads=1 run
-- $ --events=100 --threads=1 --answer=false run
-- $ --events=100 --threads=1 --answer=zero run
-- $ --events=100 --threads=1 --answer=text run

sysbench.cmdline.options = {answer = {"What the fourth event returns", "true"}}

local answers = {["true"] = true, ["false"] = false, zero = 0, text = "go on"}
local calls = 0

function event(thread_id)
   calls = calls + 1
   if calls == 4 then
      return answers[sysbench.opt.answer]
   end
end

function thread_done(thread_id)
   print("calls", calls)
end
