-- db_query connects by itself, and returns nothing.
-- $ --events=2 --num-threads=1 run

function event(thread_id_given)
   local results = select("#", db_query("SELECT 1"))
   print(results, db_driver == sysbench.opt.db_driver, thread_id, thread_id_given)
   rs = db_query("SELECT 2")
   print(rs)
end
