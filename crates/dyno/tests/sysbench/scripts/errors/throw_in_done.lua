-- An error in done(), after the report.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
end

function done()
   error("thrown in done")
end
