-- --debug adds a line for each thread.
-- servers: none
-- $ --debug --events=4 --threads=1 run

function event()
end
