-- A small encoder of JSON, as scripts bring along for their reports.
local encode

local function quoted(text)
   return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function object(value)
   local keys, fields = {}, {}
   for key in pairs(value) do
      keys[#keys + 1] = key
   end
   table.sort(keys)
   for _, key in ipairs(keys) do
      fields[#fields + 1] = quoted(key) .. ":" .. encode(value[key])
   end
   return "{" .. table.concat(fields, ",") .. "}"
end

local function array(value)
   local items = {}
   for index = 1, #value do
      items[index] = encode(value[index])
   end
   return "[" .. table.concat(items, ",") .. "]"
end

function encode(value)
   local kind = type(value)
   if kind == "string" then
      return quoted(value)
   elseif kind == "table" then
      return next(value) and #value == 0 and object(value) or array(value)
   end
   return tostring(value)
end

return {encode = encode}
