-- The ready-made reports take any table with the right fields.
-- servers: none
-- $ --percentile=99 prepare

local stat = {
   threads_running = 4, time_interval = 2, time_total = 10, latency_pct = 0.0123, events = 200, reads = 2800, writes = 800, other = 400,
   errors = 3, reconnects = 1, latency_min = 0.001, latency_avg = 0.01, latency_max = 0.1, latency_sum = 2, queue_length = 5, concurrency = 3,
}

function prepare()
   sysbench.report_default(stat)
   sysbench.report_csv(stat)
   sysbench.report_json(stat)
   sysbench.report_json(stat)
end
