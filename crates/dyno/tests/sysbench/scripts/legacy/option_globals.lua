-- Without an option table any option is taken, and is a global text; the program's options are globals too.
-- servers: none
-- lines: any order
-- $ --oltp-table-size=500 --oltp_tables_count=3 --oltp-read-only=on --flag --empty= --event=5 --events=1 run
-- $ --num-threads=2 --max-requests=4 run
-- $ --print=no --some-thing=x prepare

local function say(name)
   local value = type(_G[name]) == "function" and "" or tostring(_G[name])
   io.write(("%s %s %s\n"):format(name, type(_G[name]), value))
end

io.write(("at the top level %s\n"):format(tostring(oltp_table_size)))

function show()
   for _, name in ipairs({"oltp_table_size", "oltp_tables_count", "oltp_read_only", "flag", "empty", "num_threads", "max_requests",
      "threads", "events", "event", "print", "some_thing", "mysql_db", "pgsql_port"}) do
      say(name)
   end
   for _, name in ipairs({"oltp_table_size", "flag", "some_thing"}) do
      io.write(("opt.%s %s\n"):format(name, tostring(sysbench.opt[name])))
   end
end

function prepare()
   show()
end

function thread_init(thread_id)
   if thread_id == 0 then
      show()
   end
end

function event()
end
