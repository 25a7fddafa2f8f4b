-- A distributed transaction over two connections, prepared statements for it included, and what goes wrong in between.
-- servers: mariadb mysql
-- $ --events=4 --threads=1 run

function thread_init(thread_id)
   local drv = sysbench.sql.driver()
   branches = {drv:connect(), drv:connect()}
   for i, con in ipairs(branches) do
      con:query("CREATE TABLE branch" .. i .. "(id INTEGER PRIMARY KEY, note VARCHAR(20))")
   end
   round, kept = 0, {}
end

local function each(format, ...)
   for i, con in ipairs(branches) do
      con:query(format:format(("'round-%d','branch-%d',7"):format(round, i), ...))
   end
end

local function last_prepared()
   local rs = branches[1]:query("XA RECOVER")
   local names = {}
   for _ = 1, rs.nrows do
      local row = rs:fetch_row()
      names[#names + 1] = row[1] .. "/" .. row[2] .. "/" .. row[3] .. "/" .. row[4]
   end
   rs:free()
   table.sort(names)
   return table.concat(names, " ")
end

function event()
   round = round + 1
   each("XA START %s")
   for i, con in ipairs(branches) do
      con:query(("INSERT INTO branch%d VALUES (%d, 'round %d')"):format(i, round, round))
   end
   if round == 3 then
      -- A second XA START is refused: the connection is in a transaction.
      local ok, err = pcall(branches[2].query, branches[2], "XA START 'other'")
      print(ok, type(err), tostring(err):match("errno = %d+, state = '%w+'"))
   end
   each("XA END %s")
   each("XA PREPARE %s")
   print(round, last_prepared())
   each(round % 2 == 0 and "XA ROLLBACK %s" or "XA COMMIT %s")
   local one = branches[1]:prepare("XA START 'single'")
   one:execute()
   branches[1]:query("DELETE FROM branch1 WHERE id < 0")
   branches[1]:query("XA END 'single'")
   branches[1]:query("XA COMMIT 'single' ONE PHASE")
   -- Kept and not closed: sysbench crashes after either on MariaDB.
   kept[round] = one
end

function thread_done()
   for i, con in ipairs(branches) do
      print(con:query_row("SELECT COUNT(*), SUM(id) FROM branch" .. i))
      con:disconnect()
   end
end
