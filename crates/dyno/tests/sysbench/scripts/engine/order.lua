-- Functions are called in this order, each with or without the thread's number.
-- $ --events=2 --threads=1 prepare
-- $ --events=2 --threads=1 run
-- $ --events=2 --threads=1 cleanup
-- servers: none mariadb mysql postgres

print("top level", sysbench.tid, sysbench.opt, sysbench.cmdline.command)

function init(...) print("init", sysbench.tid, select("#", ...), ...) end
function prepare(...) print("prepare", sysbench.tid, select("#", ...), ...) end
function thread_init(...) print("thread_init", sysbench.tid, select("#", ...), ...) end
function event(...) print("event", sysbench.tid, select("#", ...), ...) end
function thread_done(...) print("thread_done", sysbench.tid, select("#", ...), ...) end
function done(...) print("done", sysbench.tid, select("#", ...), ...) end
function cleanup(...) print("cleanup", sysbench.tid, select("#", ...), ...) end
