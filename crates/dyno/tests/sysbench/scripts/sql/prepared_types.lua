-- Prepared statements on MySQL: LIMIT, LIKE, IN, dates, texts for numbers and the other way round, JSON, question marks in texts and comments.
-- servers: mariadb mysql
-- $ --events=1 --threads=1 run
-- $ --events=1 --threads=1 --db-ps-mode=disable run

local T = sysbench.sql.type

local function try(con, sql, ...)
   local ok, err = pcall(function(...)
      local st = con:prepare(sql)
      local params, kinds = {}, {...}
      for i = 1, #kinds, 3 do
         local p = st:bind_create(kinds[i], kinds[i + 1])
         params[#params + 1] = p
      end
      st:bind_param(unpack(params))
      for i = 1, #kinds, 3 do
         params[(i + 2) / 3]:set(kinds[i + 2])
      end
      local rs = st:execute()
      local is = rs ~= nil
      if is then rs:free() end
      st:close()
      return is
   end, ...)
   print(sql, ok, ok and err or tostring(err):gsub("^[^:]*:%d+: ", ""):match("^[^\n]*"))
end

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE mt(id INTEGER AUTO_INCREMENT PRIMARY KEY, i INTEGER, b BIGINT, n DECIMAL(20,4), t TEXT, v VARCHAR(20), d DATE, ts DATETIME, f DOUBLE, j JSON)")
   try(con, "INSERT INTO mt(i) VALUES (?)", T.INT, 0, 5)
   try(con, "INSERT INTO mt(b) VALUES (?)", T.BIGINT, 0, 2^40)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.VARCHAR, 10, "17")
   try(con, "INSERT INTO mt(n) VALUES (?)", T.INT, 0, 5)
   try(con, "INSERT INTO mt(t) VALUES (?)", T.INT, 0, 5)
   try(con, "INSERT INTO mt(d) VALUES (?)", T.VARCHAR, 10, "2024-02-29")
   try(con, "INSERT INTO mt(ts) VALUES (?)", T.VARCHAR, 19, "2024-02-29 10:00:00")
   try(con, "INSERT INTO mt(j) VALUES (?)", T.VARCHAR, 8, '{"a": 1}')
   try(con, "INSERT INTO mt(f) VALUES (?)", T.VARCHAR, 3, '1.5')
   try(con, "SELECT * FROM mt WHERE i = ?", T.INT, 0, 5)
   try(con, "SELECT * FROM mt WHERE i IN (?, ?)", T.INT, 0, 5, T.INT, 0, 17)
   try(con, "SELECT * FROM mt WHERE t LIKE ?", T.VARCHAR, 2, "5%")
   try(con, "SELECT * FROM mt ORDER BY id LIMIT ?", T.INT, 0, 2)
   try(con, "SELECT * FROM mt ORDER BY id LIMIT ?, ?", T.INT, 0, 2, T.INT, 0, 1)
   try(con, "SELECT ? + ?", T.INT, 0, 2, T.INT, 0, 3)
   try(con, "SELECT '?', i FROM mt WHERE i = ?", T.INT, 0, 5)
   try(con, "SELECT i /* what? */ FROM mt WHERE i = ?", T.INT, 0, 5)
   try(con, "UPDATE mt SET i = i + ? WHERE id = ?", T.INT, 0, 1, T.INT, 0, 1)
   try(con, "INSERT INTO mt(id, i) VALUES (?, 1) ON DUPLICATE KEY UPDATE i = ?", T.INT, 0, 1, T.INT, 0, 99)
   try(con, "REPLACE INTO mt(id, i) VALUES (?, ?)", T.INT, 0, 2, T.INT, 0, 77)
   try(con, "SELECT NOW() - INTERVAL ? DAY", T.INT, 0, 2)
   try(con, "BEGIN")
   try(con, "SELECT * FROM mt WHERE id = ? FOR UPDATE", T.INT, 0, 1)
   try(con, "COMMIT")
   try(con, "SET @a = ?", T.INT, 0, 2)
   try(con, "CREATE TABLE made(a INT)")
   try(con, "INSERT INTO made SELECT id FROM mt WHERE id < ?", T.INT, 0, 4)
   try(con, "TRUNCATE TABLE made")
   try(con, "SHOW TABLES")
   try(con, "LOCK TABLES mt WRITE")
   try(con, "UNLOCK TABLES")
   try(con, "SELECT SLEEP(0)")
   try(con, "INSERT INTO mt(i) VALUES (?)", T.SMALLINT, 0, 7)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.TINYINT, 0, 7)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.TINYINT, 0, 200)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.SMALLINT, 0, 40000)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.INT, 0, -7)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.INT, 0, 2^31)
   try(con, "INSERT INTO mt(b) VALUES (?)", T.INT, 0, 2^32 + 5)
   try(con, "INSERT INTO mt(b) VALUES (?)", T.BIGINT, 0, -2^40)
   try(con, "INSERT INTO mt(i) VALUES (?)", T.INT, 0, nil)
   try(con, "DELETE FROM mt WHERE id > ? LIMIT 2", T.INT, 0, 3)
   try(con, "SELECT COUNT(*) FROM mt WHERE d = ?", T.CHAR, 10, "2024-02-29")
end
