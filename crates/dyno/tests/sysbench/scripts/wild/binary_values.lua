-- Values that go through text and parameters: quotes, backslashes, zero bytes, UTF-8, empty, long and many.
-- $ --events=1 --threads=1 run

function event()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   local is_mysql = drv:name() == "mysql"
   con:query("CREATE TABLE held(id INTEGER PRIMARY KEY, v VARCHAR(200), t TEXT)")
   -- Kept and not closed: sysbench may crash after either.
   insert = con:prepare("INSERT INTO held VALUES (?, ?, ?)")
   id = insert:bind_create(sysbench.sql.type.BIGINT)
   v = insert:bind_create(sysbench.sql.type.VARCHAR, 200)
   t = insert:bind_create(sysbench.sql.type.CHAR, 200)
   insert:bind_param(id, v, t)
   local texts = {"it's", "back\\slash", "tab\tnew\nline", "äöü 漢字", "", "percent % _ ?", "\"double\" `back`", ("x"):rep(200)}
   for i, text in ipairs(texts) do
      id:set(i)
      v:set(text)
      t:set(i % 2 == 0 and "even " .. #text or "odd")
      insert:execute()
   end
   for i, text in ipairs(texts) do
      local held, length = con:query_row("SELECT v, LENGTH(v) FROM held WHERE id = " .. i)
      print(i, held == text, length, #held)
   end
   local long = con:query_row("SELECT REPEAT('abcdefghij', 30000)")
   print(#long, long:sub(-3))
   local parts = {}
   for i = 1, 3000 do
      parts[i] = "SELECT " .. i .. " AS n, 'row " .. i .. "' AS r"
   end
   con:query("CREATE TABLE many(n INTEGER, r VARCHAR(20))")
   for first = 1, 3000, 500 do
      con:query("INSERT INTO many " .. table.concat(parts, " UNION ALL ", first, first + 499))
   end
   local rs, sum = con:query("SELECT n, r, NULL, NULLIF(n, 3) FROM many ORDER BY n"), 0
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      sum = sum + row[1]
      assert(row[2] == "row " .. i and row[3] == nil and (row[4] == nil) == (i == 3))
   end
   print(rs.nrows, rs.nfields, sum, rs:fetch_row() == nil)
   print(con:query_row("SELECT 1.50, 1e3, -0, 'a' || 'b'" .. (is_mysql and ", 1 = 1, NOW() > '2000-01-01'" or ", true, now() > '2000-01-01'")))
   print(con:query_row(is_mysql and "SELECT JSON_EXTRACT('{\"a\": [1, 2]}', '$.a[1]')" or "SELECT '{\"a\": [1, 2]}'::json #> '{a,1}'"))
   con:query("-- only a comment\nUPDATE many SET r = 'semi;colon' WHERE n = 1 /* and ? another */")
   con:disconnect()
   return true
end
