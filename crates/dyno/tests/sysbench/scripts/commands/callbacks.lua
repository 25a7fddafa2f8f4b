-- Only init is not called by commands.
-- servers: none
-- $ --threads=2 own
-- $ prepare

function init()
   print("init")
end

function thread_init()
   print("thread_init")
end

function thread_done()
   print("thread_done")
end

function done()
   print("done")
end

function prepare()
   print("prepare")
end

sysbench.cmdline.commands = {own = {function() io.write("own\n") end, sysbench.cmdline.PARALLEL_COMMAND}}
