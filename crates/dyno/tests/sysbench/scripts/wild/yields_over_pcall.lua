-- Coroutines that yield while pcall and xpcall protect them, with statements on the way; recursion through pcall.
-- $ --events=5 --threads=1 run

local function worker(con)
   local n = 0
   while true do
      n = n + 1
      local ok, err = pcall(function()
         coroutine.yield(con:query_row("SELECT " .. n))
         if n == 2 then error({n = n}) end
      end)
      if not ok then coroutine.yield("caught " .. err.n) end
      coroutine.yield(select(2, xpcall(function(text)
         coroutine.yield("within " .. text)
         error("after", 0)
      end, function(message) return message .. " handled" end, "xpcall")))
   end
end

local function deep()
   depth = depth + 1
   local ok, err = pcall(deep)
   if not ok then error(err, 0) end
end

function thread_init()
   con = sysbench.sql.driver():connect()
   step = coroutine.wrap(worker)
   other = coroutine.create(worker)
end

function event()
   print(step(con), select(2, coroutine.resume(other, con)), coroutine.status(other), coroutine.running())
   depth = 0
   local ok, err = pcall(deep)
   print(ok, err:match("stack overflow"), depth > 1000)
end
