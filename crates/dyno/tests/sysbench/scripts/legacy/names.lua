-- The names of the 0.5 interface are globals.
-- servers: none
-- $

for _, name in ipairs({
   "thread_id", "test", "mysql_table_engine", "myisam_max_rows", "DB_ERROR_NONE", "DB_ERROR_RESTART_TRANSACTION", "DB_ERROR_FAILED",
   "sb_rnd", "sb_rand", "sb_rand_uniform", "sb_rand_gaussian", "sb_rand_special", "sb_rand_str", "sb_rand_uniq", "db_connect",
   "db_disconnect", "db_query", "db_bulk_insert_init", "db_bulk_insert_next", "db_bulk_insert_done", "db_prepare", "db_bind_param",
   "db_bind_result", "db_execute", "db_store_results", "db_free_results", "db_close", "db_driver",
}) do
   local value = _G[name]
   print(name, type(value), type(value) ~= "function" and value or "")
end
local names = {}
for name, value in pairs(sysbench.db) do
   names[#names + 1] = name .. " " .. type(value)
end
table.sort(names)
print(table.concat(names, "\n"))
