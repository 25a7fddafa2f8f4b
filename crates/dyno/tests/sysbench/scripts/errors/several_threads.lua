-- An error in one of several threads ends all.
-- servers: none
-- $ --events=0 --time=20 --threads=4 run

function event(thread_id)
   if thread_id == 2 then
      error("thread 2 gives up")
   end
end
