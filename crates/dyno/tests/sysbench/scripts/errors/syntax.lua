-- A script that does not compile.
-- servers: none
-- $ run
-- $ prepare
-- $
-- $ help
-- $ - < SCRIPT

function event()
   if true then
