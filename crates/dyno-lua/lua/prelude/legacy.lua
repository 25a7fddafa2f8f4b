-- The API of sysbench 0.5: one connection per thread, used by global functions, which are in
-- `sysbench.db` too.
local native = ...
native.lazy_legacy = nil
local rand, sql = sysbench.rand, sysbench.sql
local type, error, pcall, ipairs, unpack, tonumber = type, error, pcall, ipairs, unpack, tonumber
local connection

local function connected()
  if not connection then
    error("Uninitialized database connection", 3)
  end
  return connection
end

local db = {}

function db.connect()
  connection = sql.driver():connect()
end

-- Does nothing without a connection: old scripts call it at the end of commands that may never have
-- connected.
function db.disconnect()
  if connection then
    connection:disconnect()
    connection = nil
  end
end

-- Connects if necessary; the script does not get the rows.
function db.query(text)
  if not connection then
    db.connect()
  end
  local is_done, problem = pcall(connection.query, connection, text)
  if not is_done then
    error(type(problem) == "table" and problem or "db_query() failed", 2)
  end
end

function db.bulk_insert_init(text)
  if not connection then
    db.connect()
  end
  connection:bulk_insert_init(text)
end

function db.bulk_insert_next(text)
  local is_done, problem = pcall(connected().bulk_insert_next, connection, text)
  if not is_done then
    error(problem, 2)
  end
end

function db.bulk_insert_done()
  local is_done, problem = pcall(connected().bulk_insert_done, connection)
  if not is_done then
    error(problem, 2)
  end
end

function db.prepare(text)
  if not connection then
    db.connect()
  end
  return connection:prepare(text)
end

local TYPES = { number = sql.type.BIGINT, string = sql.type.VARCHAR }

-- Values are bound as they are now; the table may be filled again before each execution.
function db.bind_param(statement, values)
  local parameters = {}
  for i = 1, #values do
    local kind = TYPES[type(values[i])]
    if not kind then
      error("Unsupported variable type in bind_param: " .. type(values[i]), 2)
    end
    if kind == sql.type.BIGINT and values[i] % 1 ~= 0 then
      kind = sql.type.DOUBLE
    end
    parameters[i] = statement:bind_create(kind)
  end
  statement:bind_param(unpack(parameters))
  statement.legacy, statement.values = parameters, values
end

-- The script does not get the rows.
function db.bind_result() end

function db.execute(statement)
  for i, parameter in ipairs(statement.legacy or {}) do
    parameter:set(statement.values[i])
  end
  local answer = statement:execute()
  return answer
end

function db.store_results() end

function db.free_results(answer)
  if answer ~= nil then
    answer:free()
  end
end

function db.close(statement)
  statement:close()
end

sysbench.db = db

for name, call in pairs(db) do
  if rawget(_G, "db_" .. name) == nil then
    rawset(_G, "db_" .. name, call)
  end
end
for _, name in ipairs({ "DB_ERROR_NONE", "DB_ERROR_RESTART_TRANSACTION", "DB_ERROR_FAILED" }) do
  db[name] = _G[name]
end

local function random_unique(low, high)
  if not low then
    return rand.unique()
  end
  low, high = tonumber(low), tonumber(high)
  -- Numbers of the shared sequence within the range; none is repeated.
  local number
  repeat
    number = rand.unique() % (high - low + 1) + low
  until number <= high
  return number
end

for name, call in pairs {
  sb_rnd = function() return (bit.rshift(rand.unique(), 1)) end,
  sb_rand = rand.default,
  sb_rand_uniform = rand.uniform,
  sb_rand_gaussian = rand.gaussian,
  sb_rand_special = rand.special,
  sb_rand_pareto = rand.pareto,
  sb_rand_str = rand.string,
  sb_rand_uniq = random_unique,
} do
  if rawget(_G, name) == nil then
    rawset(_G, name, call)
  end
end
