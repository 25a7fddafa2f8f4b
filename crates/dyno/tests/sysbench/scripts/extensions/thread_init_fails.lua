-- One thread cannot begin; the others are then cut off in statements that would never end.
function thread_init(number)
   if number == 0 then
      error("the first thread cannot begin")
   end
   local connection = sysbench.sql.driver():connect()
   connection:query("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")
end

function event()
end
