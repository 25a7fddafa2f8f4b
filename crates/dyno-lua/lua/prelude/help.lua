-- Lists a script's options.
local cmdline = sysbench.cmdline

local TYPES = {
  [cmdline.ARG_BOOL] = "[=on|off]", [cmdline.ARG_INT] = "=N", [cmdline.ARG_SIZE] = "=SIZE", [cmdline.ARG_DOUBLE] = "=N",
  [cmdline.ARG_STRING] = "=STRING", [cmdline.ARG_LIST] = "=[LIST,...]", [cmdline.ARG_FILE] = "=FILENAME",
}
local BY_DEFAULT = {
  boolean = cmdline.ARG_BOOL, number = cmdline.ARG_DOUBLE, string = cmdline.ARG_STRING, table = cmdline.ARG_LIST,
  ["nil"] = cmdline.ARG_STRING,
}

local function shown(default)
  if type(default) == "boolean" then
    default = default and "on" or "off"
  elseif type(default) == "table" then
    default = table.concat(default, ",")
  end
  return default ~= nil and default ~= "" and " [" .. tostring(default) .. "]" or ""
end

function cmdline.print_test_options()
  local names, width = {}, 0
  for name, option in pairs(cmdline.options or {}) do
    local kind = option[3] or BY_DEFAULT[type(option[2])]
    local left = name .. (TYPES[kind] or "=STRING")
    names[#names + 1] = { name = name, left = left }
    width = math.max(width, #left)
  end
  table.sort(names, function(a, b) return a.name < b.name end)
  for _, entry in ipairs(names) do
    local option = cmdline.options[entry.name]
    print(("  --%-" .. width .. "s %s%s"):format(entry.left, option[1], shown(option[2])))
  end
  print()
end

-- Whether the script declares options; dyno has already read them.
function cmdline.read_cmdline_options()
  return cmdline.options ~= nil
end
