-- Errors as tables: thrown, caught, nested, rethrown, with fields of the database's, and one that nobody catches.
-- $ --events=6 --threads=1 run
-- $ --events=6 --threads=1 --last=on run
-- $ --events=6 --threads=1 --verbosity=4 --mysql-ignore-errors=1062 run

sysbench.cmdline.options = {last = {"End with an error of one's own", false}}

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS single")
   con:query("CREATE TABLE single(id INTEGER PRIMARY KEY)")
   con:query("INSERT INTO single VALUES (1)")
   round, restarts = 0, 0
end

local function duplicate()
   local ok, err = pcall(con.query, con, "INSERT INTO single VALUES (1)")
   if type(err) == "table" then
      return ok, err.errcode, err.sql_errno, err.sql_state, err.query, err.connection == con, err.sql_errmsg:match("^[Dd]uplicate") ~= nil
   end
   return ok, (tostring(err):gsub("%(Key.*%)", ""):gsub(":.*", ""))
end

local Failure = setmetatable({}, {__call = function(class, code)
   return setmetatable({code = code}, class)
end})
Failure.__index = Failure
Failure.__tostring = function(self) return "failure " .. self.code end

function event()
   round = round + 1
   if round == 1 then
      print(duplicate())
      print(con.sql_errno, con.sql_errmsg ~= nil)
   elseif round == 2 then
      print((pcall(error, {code = 5})))
      local ok, err = pcall(function()
         local inner, why = pcall(error, Failure(7))
         error(why)
      end)
      print(ok, tostring(err), err.code, getmetatable(err) == Failure)
      print(xpcall(function() error("deep", 0) end, function(message) return message .. " handled" end))
      print(select("#", pcall(error)), pcall(error, nil))
   elseif round == 3 and restarts < 2 then
      restarts, round = restarts + 1, 2
      error({errcode = sysbench.error.RESTART_EVENT, query = "none", restarts = restarts})
   elseif round == 4 then
      print(pcall(assert, false, "as asserted"))
      print(pcall(assert, nil))
      print(pcall(string.rep))
   elseif round == 5 then
      if sysbench.opt.last then
         error(Failure(9))
      end
      con:query("INSERT INTO single VALUES (2)")
   elseif round == 6 then
      error({code = 1, text = "a table without a text"})
   end
end

function sysbench.hooks.before_restart_event(err)
   print("restart", err.restarts, err.query, err.errcode)
end
