-- Finds scripts and modules. Each is compiled once for all states.
local native = ...
local load_bundled, load_file, load_text, search = native.load_bundled, native.load_file, native.load_text, native.search
local error, type = error, type
local INSTALLED = "/usr/share/sysbench/"

local function module_file(name)
  local path = package.path
  if type(path) ~= "string" and type(path) ~= "number" then
    error("'package.path' must be a string", 0)
  end
  return search(name, path)
end

-- A file that `require` would use for a bundled module, unless it belongs to an installed sysbench.
local function own_file(name)
  local file = module_file(name)
  return file and file:sub(1, #INSTALLED) ~= INSTALLED and file
end

-- As Lua's own loader, which needs 8 KB of stack that every thread would keep.
package.loaders[1] = function(name)
  local preload = package.preload
  if type(preload) ~= "table" then
    error("'package.preload' must be a table", 0)
  end
  local loader = preload[name]
  if loader == nil then
    return "\n\tno field package.preload['" .. name .. "']"
  end
  return loader
end

table.insert(package.loaders, 2, function(name)
  local given = native.load_given(name)
  if given then
    return given
  elseif not own_file(name) then
    return load_bundled(name)
  end
end)

-- Lua's own file loader compiles in every state.
package.loaders[3] = function(name)
  local file, tried = module_file(name)
  if not file then
    return tried
  end
  local chunk, reason, message = load_file(file)
  if not chunk then
    if reason == "missing" then
      message = "cannot open " .. message
    end
    error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. message, 0)
  end
  return chunk
end

-- Lua's own do not record what they load, which other processes that run the script need.
local own_loadfile, own_dofile = loadfile, dofile

function loadfile(path, ...)
  if type(path) ~= "string" or select("#", ...) > 0 then
    return own_loadfile(path, ...)
  end
  local chunk, reason, message = load_file(path)
  if not chunk then
    return nil, (reason == "missing" and "cannot open " or "") .. message
  end
  return chunk
end

function dofile(path)
  if type(path) ~= "string" then
    return own_dofile(path)
  end
  local chunk, message = loadfile(path)
  if not chunk then
    error(message, 0)
  end
  return chunk()
end

-- The script's chunk; otherwise nil, the reason (`missing` or `syntax`) and a message.
function native.find_script(kind, name, text)
  if kind == "file" then
    return load_file(name)
  elseif kind == "text" then
    return load_text("=" .. name, text)
  end
  if own_file(name) or not load_bundled(name) then
    local file = module_file(name)
    if not file then
      return nil, "missing", "module '" .. name .. "' not found"
    end
    -- What `require` would raise for a module with a syntax error.
    local chunk, reason, message = load_file(file)
    if not chunk then
      return nil, reason, message
    end
  end
  return require
end
