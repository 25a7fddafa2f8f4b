-- Options of older versions still work, with a warning.
-- servers: none
-- $ --num-threads=2 --max-requests=6 --max-time=5 run
-- $ --tx-rate=0 --max-requests=2 run

events = 0

function event()
end
