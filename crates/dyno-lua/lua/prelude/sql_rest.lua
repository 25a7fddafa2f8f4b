-- The rest of `sysbench.sql`: rows, several results, multi-row inserts, the last error of a
-- connection, and how errors are raised.
local native = ...
local scalar, ffi, sql = native.scalar, ffi, sysbench.sql
local set_number, set_integer, set_null, set_text = scalar.set_number, scalar.set_integer, scalar.set_null, native.set_text
local row_count, column_count, free_result = scalar.row_count, scalar.column_count, scalar.free_result
local next_result, more_results = scalar.next_result, scalar.more_results
local query, fetch, problem, last_error = native.query, native.fetch, native.problem, native.last_error
local type, error, setmetatable, rawget, tostring = type, error, setmetatable, rawget, tostring
local getinfo = native.getinfo
local result, statement, connection = native.result, native.statement, native.connection
local Result, nothing = native.Result, native.nothing

setmetatable(result, nil)
setmetatable(statement, nil)
setmetatable(connection, nil)

-- Raises the error of the last operation: a text, or a table that restarts the event. `level`
-- counts from the caller.
local function fail(connection, level)
  local message, verdict, errno, state, reason, statement = problem()
  if not verdict then
    error(message, level + 1)
  end
  local problem = {
    connection = connection, query = statement, sql_errno = errno, sql_state = state, sql_errmsg = reason,
  }
  if verdict == sql.error.FATAL then
    local hook = sysbench.hooks.sql_error_ignorable
    if not (hook and hook(problem)) then
      error(message, level + 1)
    end
  end
  problem.errcode = sysbench.error.RESTART_EVENT
  -- Where nothing is restarted, for example in prepare, the error is reported with its line.
  local caller = getinfo(level + 1, "Sl")
  problem.place = caller and caller.currentline > 0 and caller.short_src .. ":" .. caller.currentline .. ": " or ""
  error(problem, 0)
end
native.fail = fail

local function need_text(text, name)
  local kind = type(text)
  if kind ~= "string" and kind ~= "number" then
    error("bad argument #1 to '" .. name .. "' (string expected, got " .. kind .. ")", 3)
  end
end
native.need_text = need_text

-- Results ------------------------------------------------------------------------------

local function row(count, ...)
  if not count then
    return nil
  elseif count < 0 then
    fail(nil, 3)
  end
  return { ... }
end

function result:fetch_row()
  local answer = row(fetch(self.link, self.number))
  return answer
end

function result:free()
  free_result(self.link, self.number)
end

function native.result_field(self, name)
  if result[name] then
    return result[name]
  end
  local count
  if name == "nrows" then
    count = row_count(self.link, self.number)
  elseif name == "nfields" then
    count = column_count(self.link, self.number)
  else
    return nil
  end
  if count < 0 then
    fail(nil, 2)
  end
  return count
end

function native.nothing_field(name)
  if name == "free" then
    return function() end
  end
  error("attempt to index a result set with '" .. tostring(name) .. "': the statement returned no rows", 2)
end

-- Parameters ---------------------------------------------------------------------------

function native.set_other(self, value)
  local kind, status = type(value), nil
  if value == nil then
    status = set_null(self.id)
  elseif kind == "number" or kind == "string" then
    status = set_text(self.id, tostring(value))
  elseif kind == "boolean" then
    status = set_number(self.id, value and 1 or 0)
    if status == 1 then
      status = set_text(self.id, tostring(value))
    end
  elseif kind == "cdata" and tonumber(value) then
    status = set_integer(self.id, ffi.cast("int64_t", value))
    if status == 1 then
      status = set_text(self.id, (tostring(value):gsub("U?LL$", "")))
    end
  else
    error("a parameter cannot be set to a " .. kind, 3)
  end
  if status < 0 then
    fail(nil, 3)
  end
end

-- Statements ---------------------------------------------------------------------------

function statement:next_result()
  return self.connection:next_result()
end

function statement:more_results()
  return self.connection:more_results()
end

-- Connections --------------------------------------------------------------------------

local fields = { error = 1, sql_errno = 2, sql_state = 3, sql_errmsg = 4 }

function native.connection_field(self, name)
  local field = fields[name]
  if not field then
    return connection[name]
  end
  local value = ({ last_error(rawget(self, "id")) })[field]
  if value == nil and field <= 2 then
    return 0
  end
  return value
end

local function fields_of(count, ...)
  if count < 0 then
    fail(nil, 2)
  end
  return ...
end

function connection:query_row(text)
  local number = query(self.id, text)
  if number < 0 then
    need_text(text, "query_row")
    fail(self, 2)
  elseif number == 0 then
    return nil
  end
  local count = row_count(self.id, number)
  if count == 0 then
    free_result(self.id, number)
    return nil
  end
  return fields_of(fetch(self.id, number))
end

function connection:more_results()
  local answer = more_results(self.id)
  if answer < 0 then
    fail(self, 2)
  end
  return answer == 1
end

function connection:next_result()
  local number = next_result(self.id)
  if number > 0 then
    return Result(self.id, number)
  elseif number < 0 then
    fail(self, 2)
  end
  return nothing
end

function connection:bulk_insert_init(text)
  if native.bulk_init(self.id or 0, text) < 0 then
    need_text(text, "bulk_insert_init")
    fail(self, 2)
  end
end

function connection:bulk_insert_next(text)
  if native.bulk_next(self.id or 0, text) < 0 then
    need_text(text, "bulk_insert_next")
    fail(self, 2)
  end
end

function connection:bulk_insert_done()
  if scalar.bulk_done(self.id) < 0 then
    fail(self, 2)
  end
end

function connection:check_error(answer)
  if answer == nil and self.error ~= sql.error.NONE then
    error(self.sql_errmsg or "SQL error", 2)
  end
end

function connection:reconnect()
  if scalar.reconnect(self.id) < 0 then
    fail(self, 2)
  end
end
