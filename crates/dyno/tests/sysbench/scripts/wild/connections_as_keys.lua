-- Connections and statements as keys and values of tables, compared, kept in closures, collected.
-- $ --events=3 --threads=2 run

function thread_init()
   drv = sysbench.sql.driver()
   pool, names = {}, {}
   for i = 1, 4 do
      pool[i] = drv:connect()
      names[pool[i]] = "connection " .. i
   end
   n = 0
end

function event()
   n = n + 1
   local con = pool[n % 4 + 1]
   assert(names[con] == "connection " .. (n % 4 + 1))
   for i = 1, 50 do
      local st = con:prepare("SELECT " .. i)
      st:execute()
   end
   collectgarbage()
   collectgarbage()
   assert(con:query_row("SELECT 'alive'") == "alive")
   local extra = drv:connect()
   extra:query("SELECT 1")
   extra = nil
   collectgarbage()
end

function thread_done()
   for i, con in ipairs(pool) do con:disconnect() end
   pool, names = nil, nil
   collectgarbage()
end
