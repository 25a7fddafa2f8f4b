-- `sysbench.sql`. Connections, statements and parameters are tables that hold a handle of Rust's; a
-- result is a small cdata, so that compiled code need not allocate one that is not used.
local native = ...
local scalar, ffi = native.scalar, ffi
local execute, set_number, set_random = scalar.execute, scalar.set_number, scalar.set_random
local query, prepare, bind, parameter = native.query, native.prepare, native.bind, native.parameter
local pattern_number = native.pattern_number
local globals = _G
local type, error, setmetatable, rawget, rawset, select, unpack = type, error, setmetatable, rawget, rawset, select, unpack

ffi.cdef [[
struct dyno_result { double link, number; };
struct dyno_no_result;
]]

local sql = {
  type = {
    NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8, DATETIME = 9,
    TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
  },
  error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
}
sysbench.sql = sql

-- Methods that most scripts do not use, and error handling, are in `sql_rest`, which adds its
-- methods on first use.
local function completed_later(methods)
  return setmetatable(methods, {
    __index = function(_, name)
      native.complete()
      return rawget(methods, name)
    end,
  })
end

function native.complete()
  if not native.fail then
    native.lazy("sql_rest")
  end
end

-- Raises the error of the last operation. `level` counts from the caller. The tail call keeps the
-- level.
local function fail(connection, level)
  native.complete()
  return native.fail(connection, level)
end

-- Frees Rust's object when Lua has collected its handle.
local handle_type = ffi.typeof("double[1]")
local drop_link, drop_statement = scalar.drop_link, scalar.drop_statement
local function release_link(handle) drop_link(handle[0]) end
local function release_statement(handle) drop_statement(handle[0]) end
local function guard(id, release)
  return ffi.gc(handle_type(id), release)
end

-- Results ------------------------------------------------------------------------------

local result = completed_later {}

local Result = ffi.metatype("struct dyno_result", {
  __index = function(self, name)
    local method = result[name]
    if method then
      return method
    end
    return native.result_field(self, name)
  end,
  __tostring = function() return "<sql_result>" end,
})

-- The result of a statement without rows: equal to nil, but true, as in sysbench.
ffi.metatype("struct dyno_no_result", {
  __index = function(_, name)
    native.complete()
    return native.nothing_field(name)
  end,
  __tostring = function() return "<sql_result>" end,
})
local nothing = ffi.cast("struct dyno_no_result *", nil)

-- Parameters ---------------------------------------------------------------------------

local parameter_methods = {}
local parameter_meta = { __index = parameter_methods, __tostring = function() return "<sql_param>" end }

local function set_other(self, value)
  native.complete()
  return native.set_other(self, value)
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
    status = native.set_text(self.id, native.random_text(text))
  else
    error("bad argument #1 to 'set_rand_str' (string expected, got " .. type(text) .. ")", 2)
  end
  if status ~= 0 then
    fail(nil, 2)
  end
end

-- Statements ---------------------------------------------------------------------------

local statement = completed_later {}
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

function statement:close()
  scalar.close_statement(self.id)
  return 0
end

-- Connections --------------------------------------------------------------------------

local connection = completed_later {}
local connection_meta = {
  __index = function(self, name)
    local method = connection[name]
    if method then
      return method
    end
    return native.connection_field(self, name)
  end,
  __tostring = function() return "<sql_connection>" end,
}

local function need_text(text, name)
  native.complete()
  return native.need_text(text, name)
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

function connection:disconnect()
  scalar.disconnect(self.id)
  return true
end

-- Drivers ------------------------------------------------------------------------------

local driver = {}
local driver_meta = { __index = driver, __tostring = function() return "<sql_driver>" end }

function driver:connect()
  local id = native.connect(self.number)
  if id < 0 then
    fail(nil, 2)
  end
  rawset(globals, "db_driver", self.driver_name)
  return setmetatable({ id = id, driver = self, handle = guard(id, release_link) }, connection_meta)
end

function driver:name()
  return self.driver_name
end

-- By number: the same driver is the same object.
local drivers = {}

function sql.driver(name)
  local number, driver_name = native.driver(name)
  if not number then
    error("failed to initialize the DB driver", 2)
  end
  local known = drivers[number] or setmetatable({ number = number, driver_name = driver_name }, driver_meta)
  drivers[number] = known
  return known
end

native.result, native.statement, native.connection = result, statement, connection
native.Result, native.nothing = Result, nothing
