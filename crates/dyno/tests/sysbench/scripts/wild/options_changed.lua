-- Scripts that change options: in init for themselves, in threads for the thread, derived ones, and of the program.
-- servers: none
-- $ --threads=1 --events=4 --size=10 run
-- $ --threads=1 --events=2 --percentile=0 --mysql-host=a,b --mysql-port=1,2 run

sysbench.cmdline.options = {size = {"Size", 5}, mode = {"Mode", "simple"}}

function init()
   sysbench.opt.size = sysbench.opt.size * 2
   sysbench.opt.threads = 7
   sysbench.opt.derived = "made in init"
   print("init", sysbench.opt.size, sysbench.opt.threads, sysbench.opt.events, sysbench.opt.time)
end

function thread_init(id)
   sysbench.opt.size = sysbench.opt.size + 100 * id
   sysbench.opt.mode = sysbench.opt.mode .. id
   print("thread", id, sysbench.tid, sysbench.opt.size, sysbench.opt.mode, sysbench.opt.threads, sysbench.opt.derived)
   print("thread", id, #sysbench.opt.mysql_host, table.concat(sysbench.opt.mysql_port, "/"), sysbench.opt.percentile,
      sysbench.opt.rand_type, sysbench.opt.histogram, sysbench.opt.report_interval, sysbench.opt.no_such == nil)
   sysbench.opt.events = 1000000
end

function event(id)
   return false
end

function thread_done(id)
   sysbench.tid = id + 50
   print("done", id, sysbench.tid)
end
