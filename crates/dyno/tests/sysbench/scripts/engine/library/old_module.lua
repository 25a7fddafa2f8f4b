module("old_module", package.seeall)
loads = (loads or 0) + 1
function name() return _NAME end
function twice(x) return tonumber(x) * 2 end
