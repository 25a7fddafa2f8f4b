-- Options and words may stand in any order, dashes are underscores, the last one wins.
-- servers: none
-- $ --n=1 SCRIPT run
-- $ SCRIPT run --n=2
-- $ SCRIPT --n=3 run
-- $ --n=1 run --n=4
-- $ --two-words=a --two_words=b run

sysbench.cmdline.options = {n = {"A number", 0}, two_words = {"A text", ""}}

function event()
   print(sysbench.opt.n, sysbench.opt.two_words)
   return true
end
