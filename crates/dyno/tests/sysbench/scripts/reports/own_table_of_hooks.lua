-- sysbench.hooks replaced by a table of one's own, with and without what it needs; hooks set late.
-- servers: none
-- $ --events=3 --threads=1 run

sysbench.hooks = {
   before_restart_event = function(e) print("restart", e.errcode) end,
   report_cumulative = function(stat) print("report", stat.events) end,
}

function event()
   n = (n or 0) + 1
   print(n)
   if n == 2 then
      error({errcode = sysbench.error.RESTART_EVENT})
   end
end
