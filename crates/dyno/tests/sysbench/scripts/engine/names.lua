-- Everything that scripts may use is there.
-- servers: none
-- $

local function list(name, value)
   local keys = {}
   for key, item in pairs(value) do
      if type(key) == "string" then
         keys[#keys + 1] = name .. "." .. key .. " " .. type(item)
      end
   end
   table.sort(keys)
   print(table.concat(keys, "\n"))
end

list("sysbench", sysbench)
list("sysbench.rand", sysbench.rand)
list("sysbench.error", sysbench.error)
list("sysbench.cmdline", sysbench.cmdline)
list("sysbench.sql", sysbench.sql)
list("sysbench.sql.type", sysbench.sql.type)
list("sysbench.sql.error", sysbench.sql.error)
list("sysbench.histogram", sysbench.histogram)
list("sysbench.hooks", sysbench.hooks)
