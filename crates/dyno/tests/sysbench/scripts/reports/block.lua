-- The report at the end, without SQL.
-- servers: none
-- $ --events=10 --threads=1 run
-- $ --events=10 --threads=4 run
-- $ --events=10 --threads=1 --percentile=50 run
-- $ --events=10 --threads=1 --percentile=0 run
-- $ --events=4 --threads=1 --verbosity=0 run
-- $ --events=4 --threads=1 --verbosity=4 run

function event()
end
