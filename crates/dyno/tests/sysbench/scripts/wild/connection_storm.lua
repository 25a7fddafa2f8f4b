-- Connect, ask and disconnect in every event.
-- $ --events=12 --threads=3 run
-- $ --events=4 --threads=1 --leak=on run

sysbench.cmdline.options = {leak = {"Never disconnect", false}}

function thread_init()
   drv = sysbench.sql.driver()
end

function event()
   local con = drv:connect()
   con:query("SELECT 1")
   con:query("SELECT 2")
   if not sysbench.opt.leak then
      con:disconnect()
   end
end

function thread_done()
end
