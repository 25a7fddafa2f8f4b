-- A thread has a connection that writes and one that reads, each with prepared statements, under snapshots of their own.
-- $ prepare
-- $ --events=6 --threads=1 run
-- $ --events=6 --threads=1 --db-ps-mode=disable run

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
   con:query("INSERT INTO account VALUES (1, 100), (2, 100), (3, 100)")
   con:disconnect()
end

local Connection = {}
Connection.__index = Connection

function Connection.open(drv)
   local self = setmetatable({con = drv:connect(), statements = {}}, Connection)
   if drv:name() == "mysql" then
      self.con:query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
   end
   return self
end

function Connection:execute(sql, ...)
   local entry = self.statements[sql]
   if not entry then
      local statement = self.con:prepare(sql)
      entry = {statement = statement, params = {}}
      for i = 1, select("#", ...) do
         entry.params[i] = statement:bind_create(sysbench.sql.type.INT)
      end
      if #entry.params > 0 then
         statement:bind_param(unpack(entry.params))
      end
      self.statements[sql] = entry
   end
   for i, value in ipairs({...}) do
      entry.params[i]:set(value)
   end
   return entry.statement:execute()
end

function thread_init()
   local drv = sysbench.sql.driver()
   writer, reader = Connection.open(drv), Connection.open(drv)
   round = 0
end

function event()
   round = round + 1
   reader:execute(sysbench.opt.db_driver == "pgsql" and "BEGIN ISOLATION LEVEL REPEATABLE READ" or "BEGIN")
   local before = reader.con:query_row("SELECT SUM(balance) FROM account WHERE id <= 2")
   writer:execute("BEGIN")
   writer:execute("UPDATE account SET balance = balance - ? WHERE id = ?", round, 1)
   writer:execute("UPDATE account SET balance = balance + ? WHERE id = ?", round, 3)
   writer:execute("COMMIT")
   local unseen = reader.con:query_row("SELECT SUM(balance) FROM account WHERE id <= 2")
   reader:execute("COMMIT")
   local after = reader.con:query_row("SELECT SUM(balance) FROM account WHERE id <= 2")
   print(round, before == unseen, before - after)
   reader:execute("SELECT balance FROM account WHERE id = ?", round % 4)
end

function thread_done()
   for _, each in ipairs({writer, reader}) do
      for _, entry in pairs(each.statements) do
         entry.statement:close()
      end
      each.con:disconnect()
   end
end
