#!/usr/bin/env sysbench
-- Each thread fills its own table. An event adds one row to a buffer; SQL is sent only when the
-- buffer is full.

local rows = 0

function prepare()
   local con = sysbench.sql.driver():connect()
   for number = 1, sysbench.opt.threads do
      print(("Creating table 'sbtest%d'..."):format(number))
      con:query(([[
        CREATE TABLE IF NOT EXISTS sbtest%d (
          id INTEGER NOT NULL,
          k INTEGER DEFAULT '0' NOT NULL,
          PRIMARY KEY (id))]]):format(number))
   end
end

function thread_init(thread_id)
   con = sysbench.sql.driver():connect()
   con:bulk_insert_init(("INSERT INTO sbtest%d VALUES"):format(thread_id + 1))
end

function event()
   rows = rows + 1
   con:bulk_insert_next(("(%d,%d)"):format(rows, rows))
end

function thread_done()
   con:bulk_insert_done()
   con:disconnect()
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   for number = 1, sysbench.opt.threads do
      print(("Dropping table 'sbtest%d'..."):format(number))
      con:query("DROP TABLE IF EXISTS sbtest" .. number)
   end
end
