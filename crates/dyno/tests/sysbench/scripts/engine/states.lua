-- Every thread has a state of its own: the top level runs again in each, and globals are not seen by others.
-- $ --threads=3 --events=9 run
-- servers: none
-- lines: any order

io.write("top level\n")
count = 0

function init()
   count = 100
   print("init", count)
end

function thread_init(thread_id)
   io.write(("thread_init %d %d %d\n"):format(thread_id, sysbench.tid, count))
   count = 10 * (thread_id + 1)
end

function event(thread_id)
   assert(sysbench.tid == thread_id)
   assert(math.floor(count / 10) == thread_id + 1)
end

function thread_done(thread_id)
   io.write(("thread_done %d %d\n"):format(thread_id, count))
end

function done()
   print("done", count)
end
