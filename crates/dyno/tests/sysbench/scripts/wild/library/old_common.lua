function create_insert()
   local i
   set_vars()
   print("Creating table 'old'...")
   if db_driver == "pgsql" then
      query = "CREATE TABLE old (id SERIAL NOT NULL, k INTEGER DEFAULT '0' NOT NULL, pad CHAR(20) DEFAULT '' NOT NULL, PRIMARY KEY (id))"
   else
      query = [[CREATE TABLE old (id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT, k INTEGER UNSIGNED DEFAULT '0' NOT NULL,
         pad CHAR(20) DEFAULT '' NOT NULL, PRIMARY KEY (id)) /*! ENGINE = ]] .. mysql_table_engine .. " MAX_ROWS = " .. myisam_max_rows .. " */"
   end
   db_query(query)
   db_query("CREATE INDEX k_old ON old(k)")
   db_bulk_insert_init("INSERT INTO old(k, pad) VALUES")
   for i = 1, oltp_table_size do
      db_bulk_insert_next("(" .. i % 13 .. ", '" .. string.format("%08d", i) .. "')")
   end
   db_bulk_insert_done()
end

function prepare()
   set_vars()
   db_connect()
   create_insert()
   db_disconnect()
   return 0
end

function cleanup()
   db_connect()
   print("Dropping table 'old'...")
   db_query("DROP TABLE old")
end

function set_vars()
   oltp_table_size = oltp_table_size or 60
   oltp_range_size = oltp_range_size or 10
   if (oltp_secondary == "on") then
      oltp_secondary = true
   else
      oltp_secondary = false
   end
end
