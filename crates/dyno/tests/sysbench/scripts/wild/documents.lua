-- JSON documents, UUIDs, blobs in hexadecimal, dates: what document workloads do.
-- $ prepare
-- $ --events=5 --threads=1 run
-- $ cleanup

local function connect()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

function prepare()
   connect()
   local json = drv:name() == "pgsql" and "JSONB" or "JSON"
   local blob = drv:name() == "pgsql" and "BYTEA" or "BLOB"
   con:query(string.format([[
CREATE TABLE docs (
   id CHAR(36) PRIMARY KEY,
   doc %s,
   payload %s,
   created TIMESTAMP NULL
)]], json, blob))
end

local seed = 0
local function uuid()
   seed = seed + 1
   local template = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx"
   return (template:gsub("[xy]", function(c)
      local v = (c == "x") and (seed % 16) or (8 + seed % 4)
      return string.format("%x", v)
   end))
end

local function encode(value)
   local kind = type(value)
   if kind == "table" then
      local parts = {}
      if #value > 0 then
         for _, v in ipairs(value) do parts[#parts + 1] = encode(v) end
         return "[" .. table.concat(parts, ", ") .. "]"
      end
      local keys = {}
      for k in pairs(value) do keys[#keys + 1] = k end
      table.sort(keys)
      for _, k in ipairs(keys) do parts[#parts + 1] = string.format("%q: %s", k, encode(value[k])) end
      return "{" .. table.concat(parts, ", ") .. "}"
   elseif kind == "string" then
      return '"' .. value:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
   end
   return tostring(value)
end

thread_init = connect

function event()
   local id = uuid()
   local hex = ("%02x"):rep(4):format(1, 2, 254, 255)
   local payload = drv:name() == "pgsql" and "'\\x" .. hex .. "'" or "x'" .. hex .. "'"
   con:query(string.format("INSERT INTO docs VALUES ('%s', '%s', %s, '2024-02-%02d 10:00:00')", id,
      encode({name = "n" .. seed, tags = {1, 2, seed}, nested = {deep = true, ratio = 0.5}}), payload, seed))
   local name
   if drv:name() == "pgsql" then
      name = con:query_row("SELECT doc->>'name', doc->'tags'->2, encode(payload, 'hex') FROM docs WHERE id = '" .. id .. "'")
   else
      name = con:query_row("SELECT JSON_UNQUOTE(JSON_EXTRACT(doc, '$.name')), JSON_EXTRACT(doc, '$.tags[2]'), HEX(payload) FROM docs WHERE id = '" .. id .. "'")
   end
   print(id, name, (con:query_row("SELECT created FROM docs WHERE id = '" .. id .. "'")))
   local rs = con:query("SELECT payload, doc FROM docs WHERE id = '" .. id .. "'")
   local row = rs:fetch_row()
   print(#row, #row[1], row[1]:gsub("[^%w\\]", "."), #row[2])
end

function thread_done()
   con:disconnect()
end

function cleanup()
   connect()
   con:query("DROP TABLE IF EXISTS docs")
end
