-- A script without event() cannot be run.
-- servers: none
-- $ run
-- $ --threads=3 run

function thread_init()
   print("not reached")
end
