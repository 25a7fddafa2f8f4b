-- An unknown option is an error where the script says which options it has.
-- servers: none
-- $ --nonsense=1 run
-- $ --nonsense run
-- $ run --known=5 --unknown=6
-- $ --knwon=5 prepare

sysbench.cmdline.options = {known = {"Known", 1}}

function event()
   return true
end

function prepare()
   print("not reached")
end
