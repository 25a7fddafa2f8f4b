-- A script that overrides create_table and get_c_value of oltp_common.
-- $ --tables=3 --threads=2 prepare
-- $ --tables=3 cleanup
-- $ --tables=1 prepare
-- lines: any order

require("oltp_common")

function create_table(drv, con, number)
   io.write(("my table %d\n"):format(number))
   con:query(("CREATE TABLE sbtest%d(id INTEGER PRIMARY KEY, c VARCHAR(120), name VARCHAR(10))"):format(number))
   con:query(("INSERT INTO sbtest%d VALUES (1, '%s', '%s')"):format(number, ("c"):rep(3), drv:name()))
end
