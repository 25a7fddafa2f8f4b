-- Parallel commands that share out work, one that replaces prepare, and a serial one that checks them.
-- $ --threads=4 prepare
-- $ --threads=4 fill
-- $ verify
-- $ --threads=2 --parts=3 shrink
-- $ verify
-- $ --threads=3 cleanup
-- lines: any order
-- counters: random

local function con_of_thread()
   own = own or sysbench.sql.driver():connect()
   return own
end

local steps = {}

function steps.prepare()
   for number = sysbench.tid + 1, sysbench.opt.parts, sysbench.opt.threads do
      con_of_thread():query(("CREATE TABLE part%d(id INTEGER PRIMARY KEY, owner INTEGER, text VARCHAR(20))"):format(number))
      io.write(("part%d by thread %d of %d\n"):format(number, sysbench.tid, sysbench.opt.threads))
   end
end

function steps.fill()
   local con = con_of_thread()
   for number = 1, sysbench.opt.parts do
      con:bulk_insert_init("INSERT INTO part" .. number .. " VALUES\n")
      for id = sysbench.tid + 1, 40, sysbench.opt.threads do
         con:bulk_insert_next("(" .. id .. "," .. sysbench.tid .. ",'" .. sysbench.rand.string("##-@@"):len() .. "')")
      end
      con:bulk_insert_done()
   end
   con:disconnect()
end

function steps.shrink()
   local con = con_of_thread()
   for number = sysbench.tid + 1, sysbench.opt.parts, sysbench.opt.threads do
      con:query("DELETE FROM part" .. number .. " WHERE id > " .. 30 - number)
   end
end

function steps.verify()
   for number = 1, sysbench.opt.parts do
      print(number, con_of_thread():query_row("SELECT COUNT(*), COUNT(DISTINCT owner), MIN(text), MAX(id) FROM part" .. number))
   end
   return true
end

function steps.cleanup()
   for number = sysbench.tid + 1, sysbench.opt.parts, sysbench.opt.threads do
      con_of_thread():query("DROP TABLE IF EXISTS part" .. number)
   end
end

sysbench.cmdline.options = {parts = {"Number of parts", 3}}
sysbench.cmdline.commands = {}
for name, step in pairs(steps) do
   sysbench.cmdline.commands[name] = {step, name ~= "verify" and sysbench.cmdline.PARALLEL_COMMAND or nil}
end
