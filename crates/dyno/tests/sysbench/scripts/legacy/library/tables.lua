-- What the 0.5-era scripts share: options with their defaults, and tables.

function create_table(number)
   print("Creating table 'old" .. number .. "'")
   local id = db_driver == "mysql" and "INTEGER UNSIGNED NOT NULL AUTO_INCREMENT" or "SERIAL NOT NULL"
   local engine = db_driver == "mysql" and "/*! ENGINE = " .. mysql_table_engine .. " */" or ""
   db_query([[
      CREATE TABLE old]] .. number .. [[(
      id ]] .. id .. [[,
      k INTEGER DEFAULT 0 NOT NULL,
      c CHAR(120) DEFAULT '' NOT NULL,
      PRIMARY KEY (id)) ]] .. engine)
   db_bulk_insert_init("INSERT INTO old" .. number .. "(k, c) VALUES")
   for id = 1, table_size do
      db_bulk_insert_next("(" .. id * 3 .. ", '" .. ("c"):rep(id % 100) .. "')")
   end
   db_bulk_insert_done()
end

function set_vars()
   table_size = tonumber(oltp_table_size) or 100
   tables_count = tonumber(oltp_tables_count) or 1
   if oltp_read_only == "on" then
      read_only = true
   else
      read_only = false
   end
end

function prepare()
   set_vars()
   db_connect()
   for number = 1, tables_count do
      create_table(number)
   end
   return 0
end

function cleanup()
   set_vars()
   for number = 1, tables_count do
      print("Dropping table 'old" .. number .. "'")
      db_query("DROP TABLE IF EXISTS old" .. number)
   end
end
