-- What the OLTP scripts share: options, tables, and the statements that their transactions are made
-- of.
--
-- A script says require("oltp_common") and defines two functions: prepare_statements(), called once
-- per thread, and event(), called once per transaction. It may redefine any function below.
--
-- Each thread has a Lua state of its own, so these globals belong to one thread: drv, con driver
-- and connection stmt prepared statements: stmt[table][name], and stmt.begin, stmt.commit param
-- their parameters: param[table][name][position]

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: prepare, prewarm, warmup, run, cleanup, help")
end

sysbench.cmdline.options = {
   table_size = {"Rows per table", 10000},
   tables = {"Number of tables", 1},
   range_size = {"Rows that a range SELECT asks for", 100},
   point_selects = {"SELECTs of one row per transaction", 10},
   simple_ranges = {"SELECTs of a range per transaction", 1},
   sum_ranges = {"SELECTs of a sum over a range per transaction", 1},
   order_ranges = {"SELECTs of a sorted range per transaction", 1},
   distinct_ranges = {"SELECTs of the distinct values of a range per transaction", 1},
   index_updates = {"UPDATEs of the indexed column per transaction", 1},
   non_index_updates = {"UPDATEs of a column without index per transaction", 1},
   delete_inserts = {"Pairs of DELETE and INSERT of the same row per transaction", 1},
   range_selects = {"Execute range SELECTs; off leaves out all four kinds", true},
   auto_inc = {"The server numbers the rows; off: the script does", true},
   skip_trx = {"No BEGIN and COMMIT: each statement commits by itself", false},
   secondary = {"An index that allows duplicates on id, in place of the primary key", false},
   create_secondary = {"Create an index on k", true},
   create_table_options = {"Text to be added to CREATE TABLE", ""},
   mysql_storage_engine = {"Storage engine of the tables (MySQL)", "innodb"},
   pgsql_variant = {"Dialect of the server (PostgreSQL): 'redshift' has no indexes, and nothing is deleted"},
   reconnect = {"Connect again after this many events of a thread; 0: never", 0},
}

local types = sysbench.sql.type
local uniform, default, string_of = sysbench.rand.uniform, sysbench.rand.default, sysbench.rand.string

-- SQL with %d for the table's number, then the types of its parameters.
local statements = {
   point_selects = {"SELECT c FROM sbtest%d WHERE id=?", types.INT},
   simple_ranges = {"SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ?", types.INT, types.INT},
   sum_ranges = {"SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN ? AND ?", types.INT, types.INT},
   order_ranges = {"SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", types.INT, types.INT},
   distinct_ranges = {"SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", types.INT, types.INT},
   index_updates = {"UPDATE sbtest%d SET k=k+1 WHERE id=?", types.INT},
   non_index_updates = {"UPDATE sbtest%d SET c=? WHERE id=?", {types.CHAR, 120}, types.INT},
   deletes = {"DELETE FROM sbtest%d WHERE id=?", types.INT},
   inserts = {
      "INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)",
      types.INT, types.INT, {types.CHAR, 120}, {types.CHAR, 60},
   },
}

-- Values ------------------------------------------------------------------------------

local c_format = string.rep("###########", 10, "-")
local pad_format = string.rep("###########", 5, "-")

function get_c_value()
   return string_of(c_format)
end

function get_pad_value()
   return string_of(pad_format)
end

local function get_table()
   return uniform(1, sysbench.opt.tables)
end

local function get_id()
   return default(1, sysbench.opt.table_size)
end

-- Tables ------------------------------------------------------------------------------

local function is_redshift()
   return sysbench.opt.pgsql_variant == "redshift"
end

-- Functions that few threads call are in a separate module.

-- Creates one table, fills it, and creates its index.
function create_table(...)
   return require("oltp_tables").create_table(...)
end

function cmd_prepare()
   return require("oltp_tables").cmd_prepare()
end

-- Loads the tables into memory.
function cmd_warmup()
   return require("oltp_tables").cmd_warmup()
end

cmd_prewarm = cmd_warmup

function cleanup()
   return require("oltp_tables").cleanup()
end

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   prewarm = {cmd_prewarm, sysbench.cmdline.PARALLEL_COMMAND},
   warmup = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Life of a thread --------------------------------------------------------------------

function init()
   assert(event ~= nil, "oltp_common defines no event(): run a script that requires it")
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt, param = {}, {}
   for number = 1, sysbench.opt.tables do
      stmt[number], param[number] = {}, {}
   end
   prepare_statements()
end

function thread_done()
   close_statements()
   con:disconnect()
end

function prepare_begin()
   stmt.begin = con:prepare("BEGIN")
end

function prepare_commit()
   stmt.commit = con:prepare("COMMIT")
end

function prepare_for_each_table(name)
   local sql = statements[name][1]
   for number = 1, sysbench.opt.tables do
      local statement, parameters = con:prepare(sql:format(number)), {}
      for position = 2, #statements[name] do
         local kind = statements[name][position]
         local is_text = type(kind) == "table"
         parameters[position - 1] = is_text and statement:bind_create(kind[1], kind[2]) or statement:bind_create(kind)
      end
      statement:bind_param(unpack(parameters))
      stmt[number][name], param[number][name] = statement, parameters
   end
end

function prepare_point_selects()
   prepare_for_each_table("point_selects")
end

function prepare_simple_ranges()
   prepare_for_each_table("simple_ranges")
end

function prepare_sum_ranges()
   prepare_for_each_table("sum_ranges")
end

function prepare_order_ranges()
   prepare_for_each_table("order_ranges")
end

function prepare_distinct_ranges()
   prepare_for_each_table("distinct_ranges")
end

function prepare_index_updates()
   prepare_for_each_table("index_updates")
end

function prepare_non_index_updates()
   prepare_for_each_table("non_index_updates")
end

function prepare_delete_inserts()
   prepare_for_each_table("deletes")
   prepare_for_each_table("inserts")
end

function close_statements()
   for number = 1, sysbench.opt.tables do
      for _, statement in pairs(stmt[number]) do
         statement:close()
      end
      stmt[number], param[number] = {}, {}
   end
   for _, name in ipairs({"begin", "commit"}) do
      if stmt[name] then
         stmt[name]:close()
         stmt[name] = nil
      end
   end
end

-- The parts of a transaction ----------------------------------------------------------

function begin()
   stmt.begin:execute()
end

function commit()
   stmt.commit:execute()
end

-- All repetitions of one kind of statement use one table, drawn for each kind and transaction.

function execute_point_selects()
   local number = get_table()
   local statement, id = stmt[number].point_selects, param[number].point_selects[1]
   for _ = 1, sysbench.opt.point_selects do
      id:set(get_id())
      statement:execute()
   end
end

local function execute_range(name)
   local number = get_table()
   local statement, bounds = stmt[number][name], param[number][name]
   for _ = 1, sysbench.opt[name] do
      local id = get_id()
      bounds[1]:set(id)
      bounds[2]:set(id + sysbench.opt.range_size - 1)
      statement:execute()
   end
end

function execute_simple_ranges()
   execute_range("simple_ranges")
end

function execute_sum_ranges()
   execute_range("sum_ranges")
end

function execute_order_ranges()
   execute_range("order_ranges")
end

function execute_distinct_ranges()
   execute_range("distinct_ranges")
end

function execute_index_updates()
   local number = get_table()
   local statement, id = stmt[number].index_updates, param[number].index_updates[1]
   for _ = 1, sysbench.opt.index_updates do
      id:set(get_id())
      statement:execute()
   end
end

function execute_non_index_updates()
   local number = get_table()
   local statement, values = stmt[number].non_index_updates, param[number].non_index_updates
   for _ = 1, sysbench.opt.non_index_updates do
      values[1]:set_rand_str(c_format)
      values[2]:set(get_id())
      statement:execute()
   end
end

-- The row is inserted again with the same id, so that the table keeps its size.
function execute_delete_inserts()
   if is_redshift() then
      return
   end
   local number = get_table()
   local deletion, insertion = stmt[number].deletes, stmt[number].inserts
   local key, values = param[number].deletes[1], param[number].inserts
   for _ = 1, sysbench.opt.delete_inserts do
      local id, k = get_id(), get_id()
      key:set(id)
      values[1]:set(id)
      values[2]:set(k)
      values[3]:set_rand_str(c_format)
      values[4]:set_rand_str(pad_format)
      deletion:execute()
      insertion:execute()
   end
end

-- Connections -------------------------------------------------------------------------

-- Statements are bound to their connection: MySQL's errors 2006, 2011, 2013 and 2055 mean that it
-- was lost.
local is_lost = {[2006] = true, [2011] = true, [2013] = true, [2055] = true}

function sysbench.hooks.before_restart_event(failure)
   if is_lost[failure.sql_errno] then
      close_statements()
      prepare_statements()
   end
end

local events, is_counted = 0, false

-- To be called at the end of event(): implements the option reconnect.
function check_reconnect()
   local every = sysbench.opt.reconnect
   if every == 0 then
      return
   end
   events = events + 1
   if events % every == 0 then
      close_statements()
      -- Not con:reconnect(): sysbench 1.0.20 built with MariaDB's client library crashes in it.
      con:disconnect()
      con = drv:connect()
      if not is_counted then
         is_counted = true
         ffi.cdef("void sb_counter_inc(int thread_id, sb_counter_type type);")
      end
      ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_RECONNECT)
      prepare_statements()
   end
end
