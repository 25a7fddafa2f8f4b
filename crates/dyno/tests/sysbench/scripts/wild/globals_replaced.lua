-- A metatable of the globals in place of the one that was there; then the interface of 0.5.
-- $ --events=1 --threads=1 run

setmetatable(_G, {
   __index = function(_, name)
      return rawget(_G, "default_" .. tostring(name))
   end,
})

default_size = 7

function thread_init()
   db_connect()
end

function event()
   db_query("SELECT 1")
   print(size, thread_id, type(sb_rand(1, 2)), type(sb_rand_str("##")), type(sb_rand_uniq), nothing_of_it)
end

function thread_done()
   db_disconnect()
end
