-- An error in thread_init() of one thread.
-- servers: none
-- $ --events=1 --threads=1 run

function thread_init()
   error("thrown in thread_init")
end

function event()
   print("not reached")
end

function thread_done()
   print("not reached either")
end

function done()
   print("nor this")
end
