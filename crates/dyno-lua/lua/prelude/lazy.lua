-- What most scripts do not use is made when it is first asked for.
local native = ...
local setmetatable, rawget = setmetatable, rawget

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
lazily(sysbench.cmdline, { print_test_options = "help", read_cmdline_options = "help" })

-- The API of sysbench 0.5 stands beside that of 1.0.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
thread_id = sysbench.tid
mysql_table_engine, myisam_max_rows = "innodb", 1000000

local legacy = {}
for name in ([[
  db_connect db_disconnect db_query db_bulk_insert_init db_bulk_insert_next db_bulk_insert_done db_prepare db_bind_param
  db_bind_result db_execute db_store_results db_free_results db_close
  sb_rnd sb_rand sb_rand_uniform sb_rand_gaussian sb_rand_special sb_rand_pareto sb_rand_str sb_rand_uniq
]]):gmatch("%S+") do
  legacy[name] = "legacy"
end
lazily(_G, legacy)
