-- Scripts assign to sysbench.opt; it holds in their own state only.
-- servers: none
-- $ --threads=2 --events=4 run
-- lines: any order

sysbench.cmdline.options = {table_size = {"Rows", 100}}

function init()
   sysbench.opt.table_size = 5
   sysbench.opt.invented = "new"
   print("init", sysbench.opt.table_size, sysbench.opt.invented)
end

function thread_init(thread_id)
   io.write(("thread %d %s %s\n"):format(thread_id, sysbench.opt.table_size, sysbench.opt.invented))
   sysbench.opt.threads = 50
end

function event()
   assert(sysbench.opt.threads == 50)
end

function done()
   print("done", sysbench.opt.table_size, sysbench.opt.threads)
end
