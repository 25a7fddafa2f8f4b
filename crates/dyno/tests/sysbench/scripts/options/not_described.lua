-- An option needs a description.
-- servers: none
-- $ run

sysbench.cmdline.options = {silent = {nil, "value"}}

function event()
   return true
end
