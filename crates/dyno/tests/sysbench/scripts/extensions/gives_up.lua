-- Every second event can never be done.

function thread_init()
   number, tries = 0, 0
end

function event()
   if tries == 0 then
      number = number + 1
   end
   tries = tries + 1
   if number % 2 == 0 then
      error({errcode = sysbench.error.RESTART_EVENT, number = number})
   end
   tries = 0
end

function sysbench.hooks.before_restart_event(err)
   if tries == 4 then
      print("given up", err.number)
      tries = 0
   end
end
