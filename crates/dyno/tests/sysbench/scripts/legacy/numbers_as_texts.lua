-- An option as a global text given to a random function.
-- servers: none
-- $ --events=1 --num-threads=1 --table-rows=10 run

function event()
   print((pcall(sb_rand, 1, table_rows)), (pcall(sb_rand, 1, tonumber(table_rows))))
   return true
end
