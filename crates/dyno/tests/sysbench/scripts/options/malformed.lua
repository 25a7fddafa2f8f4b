-- Malformed options are refused before anything is done.
-- servers: none
-- $ --threads=10K run
-- $ --threads=abc run
-- $ --threads run
-- $ --events= --time=1 run
-- $ --verbosity=9 run
-- $ --percentile=101 run
-- $ --percentile=-1 run
-- $ --rand-type=none run
-- $ --debug=maybe run
-- $ --threads=0 run
-- $ run too many
-- $ --threads 4 run
-- $ --report-interval=x run
-- $ --histogram --percentile=0 --events=1 run

function event()
   print("event")
   return true
end
