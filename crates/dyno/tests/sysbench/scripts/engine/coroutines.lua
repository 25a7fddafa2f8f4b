-- Scripts with closures, coroutines, metatables and long strings, as libraries bring them along.
-- servers: none
-- $ --events=4 --threads=1 run

local Queue = setmetatable({}, {__call = function(class) return setmetatable({first = 1, last = 0}, {__index = class}) end})

function Queue:push(value)
   self.last = self.last + 1
   self[self.last] = value
end

function Queue:pop()
   local value = self[self.first]
   self[self.first] = nil
   self.first = self.first + 1
   return value
end

local function numbers(limit)
   return coroutine.wrap(function()
      for i = 1, limit do
         coroutine.yield(i, i * i)
      end
   end)
end

local strict = setmetatable({}, {
   __index = function(_, name) error("no such setting: " .. name, 2) end,
   __newindex = function(_, name) error("settings are fixed: " .. name, 2) end,
})

local queue = Queue()
for i, square in numbers(4) do
   queue:push(("%d squared is %d"):format(i, square))
end

function event()
   print(queue:pop())
   print(pcall(function() return strict.size end))
   print(pcall(function() strict.size = 1 end))
   local text = [==[
a [[long]] string]==]
   print(#text, text:find("[[", 1, true), (text:gsub("%a+", string.upper)))
   print(select(-1, string.byte("abc", 1, -1)), ("%s"):rep(2, ","):format(1, 2), #tostring(print) > 10)
   table.sort({3, 1, 2}, function(a, b) return a > b end)
   print(table.concat({1, 2, 3}, "-", 2), unpack({1, 2, 3}, 2), table.remove({1, 2, 3}))
   print(xpcall(function(...) return select("#", ...) end, tostring, 1, nil, nil))
   print(pcall(string.rep), pcall(setmetatable, 1, {}))
   print(string.format("%-10s|%10.3f|%+d|%%|%c|%i", "left", math.pi, 5, 65, 3.0))
   print(os.date("!%H:%M", 3600), os.time({year = 2001, month = 2, day = 3, hour = 4}) % 60, tostring(1e300 * 1e10), -(0 / 0) ~= -(0 / 0))
end
