-- Commands that cannot be called.
-- servers: none
-- $ migrate
-- $ missing
-- $ number

sysbench.cmdline.commands = {
   migrate = {cmd_migrate},
   number = {5},
}

function cmd_migrate()
   print("defined too late")
end
