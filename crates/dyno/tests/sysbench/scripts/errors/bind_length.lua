-- A text parameter needs a length.
-- $ --events=1 --threads=1 run

function event()
   local con = sysbench.sql.driver():connect()
   local stmt = con:prepare("SELECT ?")
   stmt:bind_create(sysbench.sql.type.CHAR)
   error("no length is needed")
end
