-- What most scripts do not use is made when it is first asked for.
local native = ...
local _G, setmetatable, rawget, type, find = _G, setmetatable, rawget, type, string.find

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
})

-- The API of sysbench 0.5 stands beside that of 1.0.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
thread_id = sysbench.tid
mysql_table_engine, myisam_max_rows = "innodb", 1000000

-- By their names, so that no state has to hold a list of them.
setmetatable(_G, {
  __index = function(_, name)
    if native.lazy_legacy and type(name) == "string" and (find(name, "^db_") or find(name, "^sb_r")) then
      native.lazy("legacy")
      return rawget(_G, name)
    end
  end,
})
native.lazy_legacy = true
