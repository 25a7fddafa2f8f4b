-- An error in the script's own loop.
-- servers: none
-- $ --events=1 --threads=1 run

function event()
end

function thread_run()
   error("thrown in thread_run")
end
