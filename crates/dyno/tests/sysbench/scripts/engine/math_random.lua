-- math.random is LuaJIT's own: every thread begins with the same sequence.
-- servers: none
-- $ --events=2 --threads=1 run

print(math.random(1, 1000000), math.random(10), math.random() < 1)

function thread_init()
   print(math.random(1, 1000000), math.random(1, 2 ^ 53) > 2 ^ 32)
end

function event()
   print(math.random(1, 100))
end
