-- Ready-made reports for scripts to use as hooks.
local format = string.format

-- Rates per second in sysbench's order.
local function rates(stat)
  local seconds = stat.time_interval
  return stat.events / seconds,
    (stat.reads + stat.writes + stat.other) / seconds,
    stat.reads / seconds, stat.writes / seconds, stat.other / seconds,
    stat.latency_pct * 1000,
    stat.errors / seconds, stat.reconnects / seconds
end

local function report_default(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  print(format(
    "[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%u%%): %4.2f err/s %4.2f reconn/s: %4.2f",
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, sysbench.opt.percentile, latency, errors,
    reconnects
  ))
end

local function report_csv(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  print(format(
    "%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f",
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, latency, errors, reconnects
  ))
end

-- Closes the array when the state is closed.
local array

local function report_json(stat)
  if array then
    io.write(",\n")
  else
    io.write("[\n")
    array = newproxy(true)
    getmetatable(array).__gc = function() io.write("\n]\n") end
  end
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  io.write(format([[
  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], stat.time_total, stat.threads_running, tps, qps, reads, writes, other, latency, errors, reconnects))
end

for name, report in pairs { report_default = report_default, report_csv = report_csv, report_json = report_json } do
  if rawget(sysbench, name) == nil then
    sysbench[name] = report
  end
end
