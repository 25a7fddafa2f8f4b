-- Procedures and functions of the server, made by prepare and called in events.
-- $ prepare
-- $ --events=4 --threads=1 run
-- $ cleanup

local is_mysql

local function connect()
   local drv = sysbench.sql.driver()
   is_mysql = drv:name() == "mysql"
   return drv:connect()
end

local bodies = {
   mysql = {
      [[CREATE PROCEDURE pay(IN who INT, IN amount INT)
        BEGIN
           UPDATE wallet SET money = money + amount WHERE id = who;
           INSERT INTO journal(wallet, amount) VALUES (who, amount);
        END]],
      [[CREATE PROCEDURE richest(OUT who INT) SELECT id INTO who FROM wallet ORDER BY money DESC, id LIMIT 1]],
      [[CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2]],
   },
   pgsql = {
      [[CREATE PROCEDURE pay(who INT, amount INT) LANGUAGE plpgsql AS $$
        BEGIN
           UPDATE wallet SET money = money + amount WHERE id = who;
           INSERT INTO journal(wallet, amount) VALUES (who, amount);
        END $$]],
      [[CREATE FUNCTION richest() RETURNS INT LANGUAGE sql AS 'SELECT id FROM wallet ORDER BY money DESC, id LIMIT 1']],
      [[CREATE FUNCTION twice(n INT) RETURNS INT LANGUAGE sql IMMUTABLE AS 'SELECT n * 2']],
   },
}

function prepare()
   local con = connect()
   con:query("CREATE TABLE wallet(id INTEGER PRIMARY KEY, money INTEGER)")
   con:query("CREATE TABLE journal(wallet INTEGER, amount INTEGER)")
   con:query("INSERT INTO wallet VALUES (1, 10), (2, 20), (3, 30)")
   for _, body in ipairs(bodies[is_mysql and "mysql" or "pgsql"]) do
      con:query(body)
   end
end

function thread_init()
   con, round = connect(), 0
end

function event()
   round = round + 1
   local result = con:query(("CALL pay(%d, %d)"):format(round % 3 + 1, round * 11))
   local who
   if is_mysql then
      con:query("CALL richest(@who)")
      who = con:query_row("SELECT @who")
   else
      who = con:query_row("SELECT richest()")
   end
   local double, null, text = con:query_row("SELECT twice(" .. round .. "), NULL, 'a''b'")
   print(round, result == nil, who, double, null, text)
end

function thread_done()
   local rs = con:query("SELECT w.id, money, COUNT(j.amount) FROM wallet w LEFT JOIN journal j ON j.wallet = w.id GROUP BY w.id, money ORDER BY 1")
   for _ = 1, rs.nrows do
      print(unpack(rs:fetch_row(), 1, rs.nfields))
   end
   con:disconnect()
end

function cleanup()
   local con = connect()
   con:query("DROP PROCEDURE pay" .. (is_mysql and "" or "(INT, INT)"))
   con:query(is_mysql and "DROP PROCEDURE richest" or "DROP FUNCTION richest()")
   con:query(is_mysql and "DROP FUNCTION twice" or "DROP FUNCTION twice(INT)")
   con:query("DROP TABLE journal")
   con:query("DROP TABLE wallet")
end
