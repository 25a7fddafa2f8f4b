-- A mix given as a list of names with weights, drawn by every distribution, within the statements of one event.
-- $ prepare
-- $ --mix=point:70,range:20,write:10 --events=60 --threads=2 --rand-seed=5 run
-- $ --mix=nothing:1 --events=1 --threads=1 run
-- rows: random
-- counters: random

sysbench.cmdline.options = {
   mix = {"Kinds of work with their weights", {"point:50", "write:50"}},
   rows = {"Rows", 100},
}

local work = {}
local draws = {"default", "uniform", "gaussian", "special", "pareto"}

function work.point(con)
   for _, name in ipairs(draws) do
      local id = sysbench.rand[name](1, sysbench.opt.rows)
      assert(id >= 1 and id <= sysbench.opt.rows and id == math.floor(id), name)
      assert(con:query_row("SELECT k FROM mixed WHERE id = " .. id))
   end
end

function work.range(con)
   local low = sysbench.rand.uniform(1, sysbench.opt.rows / 2)
   local rs = con:query("SELECT id FROM mixed WHERE id BETWEEN " .. low .. " AND " .. low + 9)
   assert(rs.nrows == 10)
end

function work.write(con)
   local text = sysbench.rand.string("@@##")
   assert(text:match("^%l%l%d%d$"), text)
   con:query(("UPDATE mixed SET k = k + %d, text = '%s' WHERE id = %d"):format(
      1 + sysbench.rand.uniform_double() * 1000, text, math.random(1, sysbench.opt.rows)))
end

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE mixed(id INTEGER PRIMARY KEY, k INTEGER, text CHAR(4))")
   con:bulk_insert_init("INSERT INTO mixed VALUES")
   for id = 1, sysbench.opt.rows do
      con:bulk_insert_next(string.format("(%d, %d, 'none')", id, sysbench.rand.unique() % 1000))
   end
   con:bulk_insert_done()
end

function thread_init()
   con, choices = sysbench.sql.driver():connect(), {}
   for _, entry in ipairs(sysbench.opt.mix) do
      local name, weight = entry:match("^(%a+):(%d+)$")
      if work[name] == nil then
         error("unknown work: " .. name, 0)
      end
      for _ = 1, weight do
         choices[#choices + 1] = name
      end
   end
end

function event()
   local name = choices[sysbench.rand.uniform(1, #choices)]
   assert(work[name])
   -- Every kind once, beginning with the one that was drawn: so all runs count the same.
   work[name](con)
   for other in pairs(work) do
      if other ~= name then
         work[other](con)
      end
   end
end
