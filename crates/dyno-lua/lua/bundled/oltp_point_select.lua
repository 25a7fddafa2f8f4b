#!/usr/bin/env sysbench
-- One SELECT of one row by its primary key.

require("oltp_common")

function prepare_statements()
   -- One event is one statement, whatever the option says.
   sysbench.opt.point_selects = 1
   prepare_point_selects()
end

function event()
   execute_point_selects()
   check_reconnect()
end
