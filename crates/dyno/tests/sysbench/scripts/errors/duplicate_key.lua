-- A duplicate key, in a query and in a prepared statement.
-- $ --events=1 --threads=1 --way=query run
-- $ --events=1 --threads=1 --way=prepared run
-- $ --events=1 --threads=1 --way=bulk run

sysbench.cmdline.options = {way = {"How the row is sent", "query"}}

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY)")
end

function event()
   local ways = {
      query = function() con:query("INSERT INTO t VALUES (1)") end,
      bulk = function()
         con:bulk_insert_init("INSERT INTO t VALUES")
         con:bulk_insert_next("(1)")
         con:bulk_insert_next("(1)")
         con:bulk_insert_done()
      end,
      prepared = function()
         local stmt = con:prepare("INSERT INTO t VALUES (?)")
         local id = stmt:bind_create(sysbench.sql.type.INT)
         stmt:bind_param(id)
         id:set(1)
         stmt:execute()
      end,
   }
   local attempts = 0
   local function twice()
      attempts = attempts + 1
      if sysbench.opt.way ~= "bulk" then
         con:query("DELETE FROM t")
         ways[sysbench.opt.way]()
      end
      ways[sysbench.opt.way]()
   end
   local ok, message = pcall(twice)
   if type(message) == "table" then
      print("may be repeated", message.sql_errno, message.sql_state, message.sql_errmsg, message.query, message.errcode)
   else
      print(ok, message)
   end
   con:disconnect()
end
