-- `sysbench.sql`. Connections, statements and parameters are tables that hold a number of Rust's; a result is a small cdata, so
-- that compiled code need not allocate one that nobody looks at.
local native = ...
local scalar, ffi = native.scalar, ffi
local execute, set_number, set_integer, set_null = scalar.execute, scalar.set_number, scalar.set_integer, scalar.set_null
local set_random, row_count, column_count = scalar.set_random, scalar.row_count, scalar.column_count
local free_result, next_result, more_results = scalar.free_result, scalar.next_result, scalar.more_results
local query, prepare, fetch, trouble, last_error = native.query, native.prepare, native.fetch, native.trouble, native.last_error
local bind, parameter, set_text = native.bind, native.parameter, native.set_text
local pattern_number, random_text = native.pattern_number, native.random_text
local type, error, setmetatable, rawget, tostring = type, error, setmetatable, rawget, tostring

ffi.cdef [[
typedef struct { double link, number; } dyno_result;
typedef struct { double id; } dyno_handle;
typedef struct dyno_no_result *dyno_nothing;
]]

local sql = {
  type = {
    NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8, DATETIME = 9,
    TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
  },
  error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
}
sysbench.sql = sql

-- Raises what the last operation stumbled over: a text, or a table that restarts the event. `level` counts from the caller.
local function fail(connection, level)
  local message, verdict, errno, state, reason, statement = trouble()
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
  error(problem, 0)
end

-- Frees what Rust holds when Lua has let go of it.
local handle_type = ffi.typeof("dyno_handle")
local drop_link, drop_statement = scalar.drop_link, scalar.drop_statement
local function release_link(handle) drop_link(handle.id) end
local function release_statement(handle) drop_statement(handle.id) end
local function guard(id, release)
  return ffi.gc(handle_type(id), release)
end

-- Results ----------------------------------------------------------------------------------------------------------------------

local result = {}

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

local Result = ffi.metatype("dyno_result", {
  __index = function(self, name)
    local count
    if name == "nrows" then
      count = row_count(self.link, self.number)
    elseif name == "nfields" then
      count = column_count(self.link, self.number)
    else
      return result[name]
    end
    if count < 0 then
      fail(nil, 2)
    end
    return count
  end,
  __tostring = function() return "<sql_result>" end,
})

-- What a statement without rows returns: equal to nil, but true, as in sysbench.
ffi.metatype("struct dyno_no_result", {
  __index = function(_, name)
    if name == "free" then
      return function() end
    end
    error("attempt to index a result set with '" .. tostring(name) .. "': the statement returned no rows", 2)
  end,
  __tostring = function() return "<sql_result>" end,
})
local nothing = ffi.cast("dyno_nothing", nil)

-- Parameters -------------------------------------------------------------------------------------------------------------------

local parameter_methods = {}
local parameter_meta = { __index = parameter_methods, __tostring = function() return "<sql_param>" end }

local function set_other(self, value)
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

function parameter_methods:set(value)
  if type(value) ~= "number" or set_number(self.id, value) ~= 0 then
    set_other(self, value)
  end
end

function parameter_methods:set_rand_str(text)
  local number = pattern_number(text)
  local status
  if number then
    status = set_random(self.id, number)
  elseif type(text) == "string" then
    status = set_text(self.id, random_text(text))
  else
    error("bad argument #1 to 'set_rand_str' (string expected, got " .. type(text) .. ")", 2)
  end
  if status ~= 0 then
    fail(nil, 2)
  end
end

-- Statements -------------------------------------------------------------------------------------------------------------------

local statement = {}
local statement_meta = { __index = statement, __tostring = function() return "<sql_statement>" end }

function statement:bind_create(kind, length)
  local id = parameter(self.id, kind, length)
  if id < 0 then
    fail(self.connection, 2)
  end
  return setmetatable({ id = id }, parameter_meta)
end

function statement:bind_param(...)
  local count = select("#", ...)
  if count == 0 then
    return nil
  end
  local ids = { ... }
  for i = 1, count do
    ids[i] = type(ids[i]) == "table" and rawget(ids[i], "id") or -1
  end
  if bind(self.id, unpack(ids, 1, count)) < 0 then
    fail(self.connection, 2)
  end
  return 0
end

function statement:execute()
  local number = execute(self.id)
  if number > 0 then
    return Result(self.link, number)
  elseif number < 0 then
    fail(self.connection, 2)
  end
  return nothing
end

function statement:next_result()
  return self.connection:next_result()
end

function statement:more_results()
  return self.connection:more_results()
end

function statement:close()
  scalar.close_statement(self.id)
  return 0
end

-- Connections ------------------------------------------------------------------------------------------------------------------

local connection = {}
local fields = { error = 1, sql_errno = 2, sql_state = 3, sql_errmsg = 4 }
local connection_meta = {
  __index = function(self, name)
    local field = fields[name]
    if not field then
      return connection[name]
    end
    local value = (select(field, last_error(rawget(self, "id"))))
    if value == nil and field <= 2 then
      return 0
    end
    return value
  end,
  __tostring = function() return "<sql_connection>" end,
}

local function need_text(text, name)
  local kind = type(text)
  if kind ~= "string" and kind ~= "number" then
    error("bad argument #1 to '" .. name .. "' (string expected, got " .. kind .. ")", 3)
  end
end

function connection:query(text)
  local number = query(self.id, text)
  if number > 0 then
    return Result(self.id, number)
  elseif number < 0 then
    need_text(text, "query")
    fail(self, 2)
  end
  return nothing
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

function connection:prepare(text)
  local id = prepare(self.id, text)
  if id < 0 then
    need_text(text, "prepare")
    fail(self, 2)
  end
  return setmetatable({
    id = id, link = self.id, connection = self, handle = guard(id, release_statement),
  }, statement_meta)
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
  if native.bulk_init(self.id, text) < 0 then
    need_text(text, "bulk_insert_init")
    fail(self, 2)
  end
end

function connection:bulk_insert_next(text)
  if native.bulk_next(self.id, text) < 0 then
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

function connection:disconnect()
  scalar.disconnect(self.id)
  return true
end

function connection:reconnect()
  if scalar.reconnect(self.id) < 0 then
    fail(self, 2)
  end
end

-- Drivers ----------------------------------------------------------------------------------------------------------------------

local driver = {}
local driver_meta = { __index = driver, __tostring = function() return "<sql_driver>" end }

function driver:connect()
  local id = native.connect(self.number)
  if id < 0 then
    fail(nil, 2)
  end
  db_driver = self.driver_name
  return setmetatable({ id = id, driver = self, handle = guard(id, release_link) }, connection_meta)
end

function driver:name()
  return self.driver_name
end

function sql.driver(name)
  local number, driver_name = native.driver(name)
  if not number then
    error("failed to initialize the DB driver", 2)
  end
  return setmetatable({ number = number, driver_name = driver_name }, driver_meta)
end
