-- The limit of events is one for all threads together.
-- servers: none
-- $ --events=1000 --time=0 --threads=4 run
-- $ --events=2 --threads=4 run
-- lines: any order

function event()
end
