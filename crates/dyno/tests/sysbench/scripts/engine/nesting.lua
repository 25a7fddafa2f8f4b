-- Calls that nest over C, within the 64 KB of stack that sysbench gives a thread: gsub with functions, sort, coroutines, load, pcall.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
   local function g(n) return (("x"):gsub("x", function() if n > 0 then return g(n - 1) end return "end" end)) end
   print(g(3))
   local function c(n) if n == 0 then return "bottom" end return coroutine.wrap(function() return c(n - 1) end)() end
   print(c(50))
   local function s(n) local t = {3, 1, 2} table.sort(t, function(a, b) if n > 0 then s(n - 1) n = 0 end return a < b end) return t[1] end
   print(s(30))
   local function l(n) if n == 0 then return "loaded" end return loadstring("local l, n = ... return l(n - 1)")(l, n) end
   print(l(100))
   local function p(n) local ok, r = pcall(function() if n == 0 then return "p" end return p(n - 1) end) return r end
   print(p(1000))
   print(#string.format("%99.99f", 1e308), #("x"):rep(1e6):gsub("x", "yy"))
end
