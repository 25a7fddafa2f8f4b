-- The globals of a new state.
-- servers: none
-- $

local names = [[
      DB_ERROR_FAILED DB_ERROR_NONE DB_ERROR_RESTART_TRANSACTION _G _VERSION assert bit collectgarbage coroutine
      db_bind_param db_bind_result db_bulk_insert_done db_bulk_insert_init db_bulk_insert_next db_close db_connect
      db_disconnect db_execute db_free_results db_prepare db_query db_store_results debug dofile error ffi gcinfo
      getfenv getmetatable io ipairs jit load loadfile loadstring math module myisam_max_rows mysql_table_engine
      newproxy next os package pairs pcall print rawequal rawget rawset require sb_rand sb_rand_gaussian
      sb_rand_special sb_rand_str sb_rand_uniform sb_rand_uniq sb_rnd select setfenv setmetatable string sysbench
      table test thread_id thread_run tonumber tostring type unpack xpcall]]

for name in names:gmatch("%S+") do
   print(name, type(_G[name]))
end
