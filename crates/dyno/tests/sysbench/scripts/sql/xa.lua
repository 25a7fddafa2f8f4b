-- Transactions in two phases, with another connection that finishes them.
-- servers: mariadb mysql
-- $ --events=3 --threads=1 run

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE t(id INTEGER)")
   events = 0
end

function event(thread_id)
   events = events + 1
   local xid = ("'branch-%d-%d'"):format(thread_id, events)
   con:query("XA START " .. xid)
   con:query("INSERT INTO t VALUES (" .. events .. ")")
   con:query("XA END " .. xid)
   con:query("XA PREPARE " .. xid)
   con:query((events == 2 and "XA ROLLBACK " or "XA COMMIT ") .. xid)
end

function thread_done()
   con:disconnect()
end
