-- A name of an option that is no string.
-- servers: none
-- $ --events=1 run

sysbench.cmdline.options = {{"described", 1}}

function event()
end
