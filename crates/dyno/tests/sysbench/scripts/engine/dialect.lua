-- LuaJIT's Lua: version 5.1, with the ways of formatting that scripts rely on.
-- servers: none
-- $

print(string.format("%s %s %s", nil, true, 12LL))
print(string.format("%d %d %5.2f %x %q", 3.99, "42", "1.5", 255, "a\nb"))
print("sbtest" .. 10 / 2, 10 / 4, 1e15, 1e100, 2 ^ 53, 0.1, 100000000000000, -0.0, 1 / 0)
print(tostring(3.0), 3 == 3.0, "10" + 5, "0x10" + 0, 7 % 3, -7 % 3, 2 ^ 0.5)
local items = {}
for i = 1, "3" do
   items[#items + 1] = i
end
print(table.concat(items, ","), #items, select("#", unpack({1, 2, nil, 4}, 1, 4)))
print((loadstring("return 1 // 2")))
for i = 1, 3 do
   if i == 2 then
      goto continue
   end
   io.write(i, " ")
   ::continue::
end
io.write("\n")
print(math.floor(2.5), math.ceil(2.5), math.fmod(-7, 3), math.max(1, 2.5), math.huge, math.pow(2, 10))
print(("%5s|%-5s|%05d"):format("a", "b", 42), ("x"):rep(3), ("a,b,c"):gsub(",", ";"))
print(tonumber("12abc"), tonumber("0b1"), tonumber("ff", 16), tonumber(" 7 "), tonumber(""))
print(table.getn and table.getn({1, 2, 3}), table.maxn({1, 2, [10] = 3}))
print(next({}), type(next), rawequal("a", "a"), #"\0abc", "\x41\65\z
       B")
print(os.time({year = 2020, month = 1, day = 1, hour = 12}) > 0, os.date("!%Y-%m-%d", 0))
