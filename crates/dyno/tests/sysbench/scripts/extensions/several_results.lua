-- Statements with several results, as sysbench 1.1 has them.

function event()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2, 3; END")
   local rs = con:query("CALL p()")
   while rs do
      if rs ~= nil and rs.nfields > 0 then
         print(unpack(rs:fetch_row(), 1, rs.nfields))
      end
      if not con:more_results() then
         break
      end
      rs = con:next_result()
   end
   print(con:query_row("SELECT 4"))
   con:disconnect()
   return true
end
