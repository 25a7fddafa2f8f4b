-- A rate of events, with the length of the queue.
-- servers: none
-- $ --rate=50 --events=30 --threads=2 --report-interval=1000 run

function event()
end
