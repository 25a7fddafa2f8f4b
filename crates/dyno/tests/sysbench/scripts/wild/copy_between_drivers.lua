-- A thread has connections of two drivers and copies rows from one to the other.
-- servers: postgres
-- with: mariadb
-- $ --events=5 --threads=1 run

local function fresh(con, definition)
   con:query("DROP TABLE IF EXISTS copied")
   con:query(definition)
end

function thread_init()
   source = sysbench.sql.driver("mysql"):connect()
   sink = sysbench.sql.driver("pgsql"):connect()
   -- Only this connection sees the table, so that nobody else is in the way.
   fresh(source, "CREATE TEMPORARY TABLE copied(id INTEGER PRIMARY KEY AUTO_INCREMENT, text VARCHAR(20), amount DECIMAL(8,3))")
   fresh(sink, "CREATE TABLE copied(id INTEGER PRIMARY KEY, text VARCHAR(20), amount NUMERIC(8,3))")
   insert = sink:prepare("INSERT INTO copied VALUES (?, ?, CAST(? AS NUMERIC))")
   params = {
      insert:bind_create(sysbench.sql.type.INT),
      insert:bind_create(sysbench.sql.type.VARCHAR, 20),
      insert:bind_create(sysbench.sql.type.VARCHAR, 20),
   }
   insert:bind_param(unpack(params))
   events = 0
end

function event()
   events = events + 1
   source:query(("INSERT INTO copied(text, amount) VALUES ('text %d', %d.125), (NULL, 0)"):format(events, events))
   local low = sink:query_row("SELECT COALESCE(MAX(id), 0) FROM copied")
   local rs = source:query("SELECT id, text, amount FROM copied WHERE id > " .. low .. " ORDER BY id")
   sink:query("BEGIN")
   for _ = 1, rs.nrows do
      local row = rs:fetch_row()
      params[1]:set(tonumber(row[1]))
      params[2]:set(row[2] or "none")
      params[3]:set(row[3])
      insert:execute()
   end
   sink:query("COMMIT")
end

function thread_done()
   print("source", source:query_row("SELECT COUNT(*), SUM(amount), COUNT(text) FROM copied"))
   print("sink", sink:query_row("SELECT COUNT(*), SUM(amount), COUNT(text), MIN(text), MAX(text) FROM copied"))
   sink:query("DROP TABLE copied")
   insert:close()
   source:disconnect()
   sink:disconnect()
end
