-- An option that is described by a text in place of a table.
-- servers: none
-- $ run

sysbench.cmdline.options = {wrong = "only a text"}

function event()
   return true
end
