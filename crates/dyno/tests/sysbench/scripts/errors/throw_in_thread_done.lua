-- An error in thread_done().
-- servers: none
-- $ --events=1 --threads=1 run

function event()
end

function thread_done()
   error("thrown in thread_done")
end

function done()
   print("done")
end
