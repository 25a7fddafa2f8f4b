-- Global variables of a script that declares no options stay its own, unless sysbench has an option of that name.
-- servers: none
-- $ --events=1 run
-- $ --events=1 --folder=x run

json = {encode = tostring}
results, folder, warmup_time = {1, 2}, "mine", "long"
percentile = "mine"

function event()
   print(type(json), type(results), folder, warmup_time, percentile, hang_timeout, max_retries, sqlite_db, report_format)
end
