-- Where scripts and modules come from.
local native = ...
local bundled, about = native.bundled, native.about
local HOME = os.getenv("HOME") or ""
local INSTALLED = "/usr/share/sysbench/"

-- As sysbench has it; `;;` in the variable stands for these.
local path = "./?.lua;./?/init.lua;./src/lua/?.lua;"
  .. HOME .. "/.luarocks/share/lua/5.1/?.lua;" .. HOME .. "/.luarocks/share/lua/5.1/?/init.lua;"
  .. HOME .. "/.luarocks/share/lua/?.lua;" .. HOME .. "/.luarocks/share/lua/?/init.lua;"
  .. "/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua;" .. INSTALLED .. "?.lua;"
local cpath = "./?.so;" .. HOME .. "/.luarocks/lib/lua/5.1/?.so;" .. HOME .. "/.luarocks/lib/lua/?.so;"
  .. "/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;"

local function configured(name, default)
  local value = os.getenv(name)
  return value and value:gsub(";;", ";" .. default:gsub("%%", "%%%%") .. ";") or default
end

package.path, package.cpath = configured("LUA_PATH", path), configured("LUA_CPATH", cpath)

-- A file that `require` would take for a bundled module, unless it is that of an installed sysbench.
local function own_file(name)
  local file = package.searchpath(name, package.path)
  return file and file:sub(1, #INSTALLED) ~= INSTALLED and file
end

local function load_bundled(name)
  local source = bundled(name)
  return source and loadstring(source, "@" .. name .. ".lua")
end

table.insert(package.loaders, 2, function(name)
  if not own_file(name) then
    return load_bundled(name)
  end
end)

local function read_file(file)
  local opened, problem = io.open(file, "r")
  if not opened then
    return nil, "missing", problem
  end
  opened:close()
  local chunk, message = loadfile(file)
  return chunk, "syntax", message
end

-- The script's chunk; otherwise nil, why (`missing` or `syntax`) and a message.
function native.find_script(kind, name, text)
  if kind == "file" then
    return read_file(name)
  elseif kind == "text" then
    -- A first line that names the program to run is not Lua.
    local chunk, message = loadstring(text:gsub("^#[^\n]*", ""), "=" .. name)
    return chunk, "syntax", message
  end
  local file = package.searchpath(name, package.path)
  if not file and not bundled(name) then
    return nil, "missing", "module '" .. name .. "' not found"
  end
  -- What `require` would raise for a module that is no Lua.
  local chunk, reason, message
  if own_file(name) or not bundled(name) then
    chunk, reason, message = read_file(file)
    if not chunk then
      return nil, reason, message
    end
  end
  return require
end
