-- The program's own options are in sysbench.opt too.
-- servers: none
-- $ --threads=1 --events=1 run
-- $ --threads=1 --events=7 --time=0 --report-interval=0 --rand-type=uniform --rand-seed=12 --percentile=50 --mysql-host=a,b --mysql-port=1,2 --pgsql-port=9 --db-driver=mysql --debug=off --histogram=off run
-- $ help

sysbench.cmdline.options = {own = {"One of the script's", 1}}

local names = {
   "threads", "events", "time", "rate", "report_interval", "percentile", "histogram", "debug", "validate", "verbosity",
   "rand_type", "rand_seed", "rand_pareto_h", "rand_spec_iter", "rand_spec_pct", "rand_spec_res", "db_driver", "db_ps_mode",
   "db_debug", "mysql_host", "mysql_port", "mysql_socket", "mysql_user", "mysql_db", "mysql_ssl_cipher", "mysql_compression",
   "mysql_ignore_errors", "mysql_dry_run", "pgsql_host", "pgsql_port", "pgsql_user", "pgsql_db", "thread_stack_size",
   "forced_shutdown", "report_checkpoints", "own",
}

function event()
   for _, name in ipairs(names) do
      local value = sysbench.opt[name]
      print(name, type(value), type(value) == "table" and table.concat(value, "|") or tostring(value))
   end
   return true
end
