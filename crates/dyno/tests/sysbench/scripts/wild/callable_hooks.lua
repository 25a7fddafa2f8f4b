-- Hooks that are no functions: tables that can be called, and values that cannot.
-- servers: none
-- $ --events=1 --threads=1 run
-- $ --events=1 --threads=1 --wrong=thread_init run
-- $ --events=1 --threads=1 --wrong=thread_done run
-- $ --events=1 --threads=1 --wrong=done run
-- $ --events=1 --threads=1 --wrong=init run
-- $ prepare

local Hook = {}
Hook.__index = Hook

function Hook:__call(...)
   print(self.name, ...)
end

for _, name in ipairs({"init", "done", "thread_init", "thread_done", "prepare"}) do
   _G[name] = setmetatable({name = name}, Hook)
end

-- Options without a table of their own are globals by the time that functions run, not here.
for _, argument in pairs(sysbench.cmdline.argv) do
   local wrong = argument:match("^%-%-wrong=(.*)")
   if wrong then
      _G[wrong] = 5
   end
end

function event()
   print("event")
end
