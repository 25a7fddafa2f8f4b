-- Creates what most scripts do not need on first use.
local native = ...
local _G, setmetatable, getmetatable, rawget, type, find = _G, setmetatable, getmetatable, rawget, type, string.find

local function lazily(target, parts)
  local meta = getmetatable(target) or {}
  meta.__index = function(table, name)
    local part = parts[name]
    if part then
      parts[name] = nil
      native.lazy(part)
      return rawget(table, name)
    end
  end
  setmetatable(target, meta)
end

lazily(sysbench, {
  report_default = "reports", report_csv = "reports", report_json = "reports", histogram = "histogram", db = "legacy",
})
lazily(sysbench.cmdline, {
  print_test_options = "help", read_cmdline_options = "help", argv = "commands", command_defined = "commands",
  command_parallel = "commands", call_command = "commands",
})
lazily(native, {
  call_command = "commands", find_command = "commands", numbers = "rand_rest", more_of_rand = "rand_rest", fate = "events_rest",
  watch_options = "watching",
})

-- The API of sysbench 0.5 exists next to that of 1.0.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
thread_id = sysbench.tid
mysql_table_engine, myisam_max_rows = "innodb", 1000000

-- Looked up by name, so that no state has to hold a list.
local function old_name(_, name)
  if native.lazy_legacy and type(name) == "string" and (find(name, "^db_") or find(name, "^sb_r")) then
    native.lazy("legacy")
    return rawget(_G, name)
  end
end
setmetatable(_G, { __index = old_name })
native.lazy_legacy = true

-- After the top level of a script: where it has replaced the metatable of the globals, or its
-- `__index`, as modules that detect undeclared names do, the old names are defined as globals.
function native.top_level_ended()
  local meta = getmetatable(_G)
  if native.lazy_legacy and not (meta and rawget(meta, "__index") == old_name) then
    native.lazy("legacy")
  end
end
