-- Numbers of types and errors.
-- servers: none
-- $

for _, group in ipairs({"type", "error"}) do
   local names = {}
   for name, number in pairs(sysbench.sql[group]) do
      names[#names + 1] = ("%2d %s"):format(number, name)
   end
   table.sort(names)
   print(group .. "\n" .. table.concat(names, "\n"))
end
