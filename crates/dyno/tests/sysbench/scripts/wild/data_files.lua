-- Data from files: a CSV made by prepare, read line by line, with os.time, os.date, os.tmpname and format patterns.
-- $ prepare
-- $ --events=6 --threads=1 run
-- $ --csv=missing.csv --events=1 --threads=1 run
-- $ cleanup

sysbench.cmdline.options = {csv = {"File with the data", "people.csv"}}

local function split(line)
   local fields = {}
   for field in (line .. ","):gmatch("%s*(.-)%s*,") do
      fields[#fields + 1] = field ~= "" and field or nil
   end
   return fields
end

function prepare()
   local file = assert(io.open(sysbench.opt.csv, "w"))
   file:write("id,name,born\n")
   for i = 1, 12 do
      file:write(i, ", name ", i, " ,", os.date("!%Y-%m-%d", i * 86400 * 400), i % 4 == 0 and "\r\n" or "\n")
   end
   file:close()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE people(id INTEGER, name VARCHAR(20), born DATE)")
   con:bulk_insert_init("INSERT INTO people VALUES")
   local number = 0
   for line in io.lines(sysbench.opt.csv) do
      number = number + 1
      if number > 1 then
         local fields = split(line:gsub("\r$", ""))
         con:bulk_insert_next(("(%d, '%s', '%s')"):format(fields[1], fields[2], fields[3]))
      end
   end
   con:bulk_insert_done()
   print(number, con:query_row("SELECT COUNT(*), MIN(born), MAX(born) FROM people"))
end

function thread_init()
   people = {}
   for line in assert(io.open(sysbench.opt.csv)):lines() do
      people[#people + 1] = split(line)
   end
   table.remove(people, 1)
   con, turn = sysbench.sql.driver():connect(), 0
end

function event()
   turn = turn % #people + 1
   local year, month, day = people[turn][3]:match("^(%d+)-(%d+)-(%d+)")
   local age = os.date("*t", os.time({year = 2000, month = month, day = day, hour = 12})).year - year
   local name = con:query_row("SELECT name FROM people WHERE id = " .. people[turn][1])
   con:query(("UPDATE people SET name = '%s' WHERE id = %s"):format(name:upper():reverse(), turn))
   print(name, age, os.difftime(os.time(), os.time() - 5), type(os.clock()))
end

function thread_done()
   con:disconnect()
end

function cleanup()
   sysbench.sql.driver():connect():query("DROP TABLE people")
   print(os.remove(sysbench.opt.csv))
   print(select(2, os.remove(sysbench.opt.csv)))
   local name = os.tmpname()
   print(name:match("^/tmp/lua_") ~= nil, os.rename(name, "moved"), os.remove("moved"))
end
