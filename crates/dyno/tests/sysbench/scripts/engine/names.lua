-- Every name of the interface is there.
-- servers: none
-- $

local names = {
   {"sysbench", [[
      cmdline db error histogram hooks rand report_csv report_default report_json sql tid version version_string]]},
   {"sysbench.rand", [[
      default gaussian pareto special string uniform uniform_double uniform_uint64 unique]]},
   {"sysbench.error", [[
      NONE RESTART_EVENT]]},
   {"sysbench.cmdline", [[
      ARG_BOOL ARG_DOUBLE ARG_FILE ARG_INT ARG_LIST ARG_MAX ARG_NULL ARG_SIZE ARG_STRING PARALLEL_COMMAND argv
      call_command command_defined command_parallel print_test_options read_cmdline_options script_path]]},
   {"sysbench.sql", [[
      driver error type]]},
   {"sysbench.sql.type", [[
      BIGINT CHAR DATE DATETIME DOUBLE FLOAT INT NONE SMALLINT TIME TIMESTAMP TINYINT VARCHAR]]},
   {"sysbench.sql.error", [[
      FATAL IGNORABLE NONE]]},
   {"sysbench.histogram", [[
      new]]},
}

for _, group in ipairs(names) do
   local value = _G
   for part in group[1]:gmatch("[^.]+") do
      value = value[part]
   end
   for name in group[2]:gmatch("%S+") do
      print(group[1] .. "." .. name, type(value[name]))
   end
end
