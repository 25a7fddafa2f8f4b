-- A statement used on after an error of its own, and after an error of another.
-- $ --events=3 --threads=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE u(id INTEGER PRIMARY KEY, n INTEGER)")
   st = con:prepare("INSERT INTO u VALUES (?, ?)")
   a, b = st:bind_create(sysbench.sql.type.INT), st:bind_create(sysbench.sql.type.INT)
   st:bind_param(a, b)
   sel = con:prepare("SELECT n FROM u WHERE id = ?")
   c = sel:bind_create(sysbench.sql.type.INT)
   sel:bind_param(c)
   n = 0
end

local function attempt(f)
   local ok, err = pcall(f)
   if ok then return "ok" end
   if type(err) == "table" then return "table", err.sql_errno, err.sql_state end
   return "text"
end

function event()
   n = n + 1
   a:set(1)
   b:set(n)
   print(n, attempt(function() st:execute() end))
   a:set(n + 10)
   print(n, attempt(function() st:execute() end))
   c:set(1)
   local rs = sel:execute()
   print(rs ~= nil)
   rs:free()
   print(attempt(function() con:query("SELECT no_such_column FROM u") end))
   a:set(n + 20)
   print(attempt(function() st:execute() end))
   st:bind_param(b, a)
   b:set(n + 30)
   print(attempt(function() st:execute() end))
   st:bind_param(a, b)
end
