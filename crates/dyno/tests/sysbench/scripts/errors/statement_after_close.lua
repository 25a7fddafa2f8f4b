-- A statement after it was closed.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local stmt = con:prepare("SELECT 1")
   stmt:close()
   stmt:execute()
end
