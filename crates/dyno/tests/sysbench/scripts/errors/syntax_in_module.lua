-- A module that does not compile.
-- servers: none
-- $ run

package.path = "./errors/?.lua;" .. package.path
require "library.broken"

function event()
end
