-- What most scripts do not use is made when it is first asked for.
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

-- The API of sysbench 0.5 stands beside that of 1.0.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
thread_id = sysbench.tid
mysql_table_engine, myisam_max_rows = "innodb", 1000000

-- By their names, so that no state has to hold a list of them.
local function old_name(_, name)
  if native.lazy_legacy and type(name) == "string" and (find(name, "^db_") or find(name, "^sb_r")) then
    native.lazy("legacy")
    return rawget(_G, name)
  end
end
setmetatable(_G, { __index = old_name })
native.lazy_legacy = true

-- What the top level of a script may have left: where the globals have got another metatable, or ours another `__index`, as
-- by modules that find undeclared names, the old names must stand there by themselves.
function native.top_level_ended()
  local meta = getmetatable(_G)
  if native.lazy_legacy and not (meta and rawget(meta, "__index") == old_name) then
    native.lazy("legacy")
  end
end
