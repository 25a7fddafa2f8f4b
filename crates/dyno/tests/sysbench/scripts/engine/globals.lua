-- The globals of a new state.
-- servers: none
-- $

local names = {}
for name, value in pairs(_G) do
   names[#names + 1] = name .. " " .. type(value)
end
table.sort(names)
print(table.concat(names, "\n"))
