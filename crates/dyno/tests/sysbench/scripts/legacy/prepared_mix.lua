-- 0.5: options as globals, prepared statements with a table of parameters, multi-row inserts, transactions on MyISAM or InnoDB.
-- servers: mariadb mysql
-- $ --oltp-table-size=20 prepare
-- $ --oltp-table-size=20 --max-requests=4 --num-threads=1 run
-- $ --oltp-table-size=20 cleanup

function prepare()
   set_vars()
   db_connect()
   db_query("CREATE TABLE sbtest1 (id INTEGER UNSIGNED NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c CHAR(20) DEFAULT '' NOT NULL, PRIMARY KEY (id)) /*! ENGINE = " .. mysql_table_engine .. " MAX_ROWS = " .. myisam_max_rows .. " */")
   db_query("CREATE INDEX k_1 ON sbtest1(k)")
   db_bulk_insert_init("INSERT INTO sbtest1(id, k, c) VALUES")
   for j = 1, oltp_table_size do
      db_bulk_insert_next("(" .. j .. "," .. j * 2 .. ",'" .. ("c"):rep(j % 5) .. "')")
   end
   db_bulk_insert_done()
   return 0
end

function cleanup()
   set_vars()
   db_query("DROP TABLE sbtest1")
end

function thread_init(thread_id)
   set_vars()
   if (db_driver == "mysql" and mysql_table_engine == "myisam") then
      begin_query = "LOCK TABLES sbtest1 WRITE"
      commit_query = "UNLOCK TABLES"
   else
      begin_query = "BEGIN"
      commit_query = "COMMIT"
   end
   stmt = db_prepare("SELECT c FROM sbtest1 WHERE id = ?")
   params = {}
   params[1] = 1
   db_bind_param(stmt, params)
   upd = db_prepare("UPDATE sbtest1 SET c = ?, k = ? WHERE id = ?")
   values = {"start", 0.5, 1}
   db_bind_param(upd, values)
   n = 0
end

function event(thread_id)
   n = n + 1
   db_query(begin_query)
   params[1] = n
   local rs = db_execute(stmt)
   db_store_results(rs)
   db_free_results(rs)
   values[1] = "event " .. n
   values[2] = n * 100
   values[3] = n
   db_execute(upd)
   db_query("DELETE FROM sbtest1 WHERE id = " .. (10 + n))
   db_query(commit_query)
   print(thread_id, n, db_driver, begin_query)
end

function thread_done(thread_id)
   db_close(stmt)
   db_close(upd)
   db_disconnect()
end

function set_vars()
   oltp_table_size = tonumber(oltp_table_size) or 10000
   if (oltp_auto_inc == 'off') then oltp_auto_inc = false else oltp_auto_inc = true end
end
