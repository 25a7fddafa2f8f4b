-- Statements whose types do not follow from them: PostgreSQL takes those that the parameters were made with.
-- servers: postgres
-- $ --events=2 --threads=1 run

local kinds = sysbench.sql.type

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE sums(i INTEGER, t TEXT)")
   sum = con:prepare("INSERT INTO sums(i) SELECT ? + ?")
   a, b = sum:bind_create(kinds.INT), sum:bind_create(kinds.INT)
   sum:bind_param(a, b)
   series = con:prepare("INSERT INTO sums(i) SELECT generate_series(?, ?)")
   from, to = series:bind_create(kinds.INT), series:bind_create(kinds.INT)
   series:bind_param(from, to)
   words = con:prepare("INSERT INTO sums(t) SELECT concat(?, '-', ?)")
   word, number = words:bind_create(kinds.VARCHAR, 10), words:bind_create(kinds.BIGINT)
   words:bind_param(word, number)
   a:set(1) b:set(2) from:set(10) to:set(12) word:set("word") number:set(2 ^ 40)
end

function event()
   print(sum:execute() == nil, series:execute() == nil, words:execute() == nil)
end

function thread_done()
   sum:close() series:close() words:close()
   con:disconnect()
end
