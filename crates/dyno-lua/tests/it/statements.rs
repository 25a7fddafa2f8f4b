//! `sysbench.sql` without a server: canned replies and dry runs.

use crate::running::{Lines, canned, dry, run};
use dyno_lua::{LogLevel, StatementKind};
use dyno_model::counters::OutcomeClass;
use std::sync::Arc;

fn passes(script: &str, replies: &str) {
    let (done, _) = run(&Arc::new(canned(script, replies)), 1, 0);
    assert_eq!(done, Ok(()));
}

#[test]
fn a_statement_without_rows_returns_a_value_that_is_nil_and_true() {
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          for _, rs in ipairs { con:query('CREATE TABLE t (a int)'), con:prepare('UPDATE t SET a = 1'):execute() } do
            assert(rs) same(rs == nil, true) same(type(rs), 'cdata') same(tostring(rs), '<sql_result>')
            fails('test.lua:5: attempt to index a result set', function() return rs.nrows end)
            fails('fetch_row', function() return rs:fetch_row() end)
            rs:free()
          end
          same(con:query_row('UPDATE t SET a = 1'), nil)
        end",
        "seed=21",
    );
}

#[test]
fn rows_are_fetched_as_texts() {
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          local rs = con:query('SELECT a, b') same(rs.nrows, 2) same(rs.nfields, 3) assert(rs) same(type(rs), 'cdata')
          for i = 1, 2 do local row = rs:fetch_row() same(#row, 3) same(row[1], '42') same(unpack(row, 1, rs.nfields), '42') end
          same(rs:fetch_row(), nil) same(rs:fetch_row(), nil) rs:free() rs:free()
          same(select('#', con:query_row('SELECT 1')), 3) same(con:query_row('SELECT 1') + 1, 43)
          local st = con:prepare('SELECT 1') rs = st:execute() same(rs.nrows, 2) same(rs:fetch_row()[3], '42')
        end",
        "rows=2,columns=3,value=42,seed=22",
    );
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          local rs = con:query('SELECT 1') same(rs.nrows, 0) same(rs.nfields, 1) same(rs:fetch_row(), nil)
          same(con:query_row('SELECT 1'), nil)
        end",
        "rows=0,seed=23",
    );
}

#[test]
fn freed_objects_cannot_be_used() {
    passes(
        "function event() local drv = sysbench.sql.driver() local con = drv:connect()
          local old = con:query('SELECT 1') local new = con:query('SELECT 1')
          same(old.nrows, 1) same(old.nfields, 1) fails('the result is no longer valid', function() return old:fetch_row() end)
          fails('no longer valid', old.fetch_row, old) old:free() same(new.nrows, 1)
          new:free() fails('no longer valid', new.fetch_row, new) fails('test.lua:6: the result is no longer valid', function() return new.nrows end)
          local st = con:prepare('SELECT ?') local p = st:bind_create(sysbench.sql.type.INT)
          same(st:bind_param(p), 0) same(st:bind_param(), nil) p:set(1) st:execute()
          same(st:close(), 0) same(st:close(), 0)
          fails('test.lua:10: the statement is closed', function() st:execute() end)
          fails('the statement is closed', st.bind_create, st, sysbench.sql.type.INT) fails('the statement is closed', st.bind_param, st, p)
          p:set(2)
          local second = con:prepare('SELECT 1')
          con:disconnect() con:disconnect()
          fails('test.lua:15: the connection is closed', function() con:query('SELECT 1') end)
          fails('the connection is closed', con.prepare, con, 'SELECT 1') fails('the connection is closed', con.query_row, con, 'x')
          fails('the connection of this statement is closed', second.execute, second)
          fails('the connection is closed', con.bulk_insert_init, con, 'x') fails('closed', con.more_results, con) fails('closed', con.next_result, con)
          fails('the connection is closed', con.bulk_insert_done, con)
          con:reconnect() same(con:query_row('SELECT 1'), '1') same(second:execute().nrows, 1)
        end",
        "seed=24",
    );
}

#[test]
fn invalid_arguments_are_errors_of_the_caller() {
    passes(
        "function event() local drv = sysbench.sql.driver() local con = drv:connect()
          same(drv:name(), 'mysql') same(tostring(drv), '<sql_driver>') same(tostring(con), '<sql_connection>')
          fails(\"test.lua:4: bad argument #1 to 'query' (string expected, got nil)\", function() con:query() end)
          fails(\"bad argument #1 to 'prepare'\", con.prepare, con, {}) fails('query_row', con.query_row, con, true)
          fails(\"attempt to call method 'nonsense'\", function() con:nonsense() end)
          local st = con:prepare('SELECT ?')
          fails('Unsupported argument type: 8', st.bind_create, st, sysbench.sql.type.DATE, 1)
          fails('argument 1 is not a parameter', st.bind_param, st, 5)
          local i, s = st:bind_create(sysbench.sql.type.INT), st:bind_create(sysbench.sql.type.VARCHAR, 5)
          same(tostring(st), '<sql_statement>') same(tostring(i), '<sql_param>')
          i:set(1) i:set(1.9) i:set('12') i:set(nil) i:set(true) i:set(5LL) i:set(ffi.cast('uint64_t', 7))
          fails('test.lua:13: a number is required', function() i:set('abc') end) fails('cannot be set to a table', i.set, i, {})
          s:set('abcdefgh') s:set(5) s:set(nil) s:set(true) s:set(5LL) s:set_rand_str('##@@') s:set_rand_str('##@@')
          fails('set_rand_str needs', i.set_rand_str, i, '#') fails('string expected, got nil', s.set_rand_str, s)
        end",
        "seed=25",
    );
}

#[test]
fn statements_are_counted_by_their_result() {
    let environment = canned(
        "function thread_init() con = sysbench.sql.driver():connect() con:query('SET x = 1') up = con:prepare('UPDATE t SET a = 1') end
        function event() con:query('BEGIN') con:query('SELECT 1') up:execute() con:query('COMMIT') end",
        "seed=26",
    );
    let (done, reported) = run(&Arc::new(environment), 2, 0);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!(reported.statements.len(), 9);
    assert_eq!(reported.statements[0], (StatementKind::Other, OutcomeClass::Other));
    assert_eq!(reported.statements[2], (StatementKind::Select, OutcomeClass::Read));
    assert_eq!((reported.count(OutcomeClass::Read), reported.count(OutcomeClass::Write)), (2, 2));
}

#[test]
fn a_dry_run_counts_everything_as_other() {
    let environment = dry(
        "function event() local con = sysbench.sql.driver('pgsql'):connect() same(con:query('SELECT 1'), nil) same(con:query_row('SELECT 1'), nil)
          con:prepare('SELECT 1'):execute() con:reconnect() con:bulk_insert_init('x VALUES') con:bulk_insert_next('(1)') con:bulk_insert_done() end",
    );
    let (done, reported) = run(&environment, 1, 0);
    assert_eq!(done, Ok(()));
    assert_eq!(reported.borrow().count(OutcomeClass::Other), 4);
    assert_eq!(reported.borrow().reconnected, 1);
    assert!(environment.uses_sql());
}

#[test]
fn bulk_inserts_join_rows_and_may_stay_open_across_events() {
    let lines = Arc::new(Lines::default());
    let mut environment = canned(
        "function thread_init() con = sysbench.sql.driver():connect()
          con:bulk_insert_done()
          fails('db_bulk_insert_next() failed', con.bulk_insert_next, con, '(1)')
          con:bulk_insert_init('INSERT INTO t VALUES')
        end
        function event() con:bulk_insert_next(string.format('(%s)', ('1'):rep(100000))) end
        function thread_done() con:bulk_insert_done()
          con:bulk_insert_init('INSERT INTO t VALUES') fails('db_bulk_insert_next() failed', con.bulk_insert_next, con, ('1'):rep(600000))
          con:bulk_insert_init('INSERT INTO t VALUES') con:bulk_insert_done() end",
        "seed=27",
    );
    environment.log = Arc::clone(&lines) as Arc<dyn dyno_lua::Log>;
    let (done, reported) = run(&Arc::new(environment), 12, 0);
    assert_eq!(done, Ok(()));
    // Five rows of 100 kB fit a statement.
    assert_eq!(reported.borrow().statements, [(StatementKind::Insert, OutcomeClass::Write); 3]);
    let lines = lines.0.lock().unwrap();
    assert_eq!(
        lines[0],
        (
            LogLevel::Alert,
            "attempt to call bulk_insert_next() before bulk_insert_init()".to_owned()
        )
    );
    assert!(lines[1].1.starts_with("a row of 600000 bytes does not fit"));
}

#[test]
fn objects_collected_by_lua_are_freed() {
    let (done, _) = run(
        &Arc::new(canned(
            "local drv = sysbench.sql.driver()
            function event()
              for i = 1, 2000 do local con = drv:connect() local st = con:prepare('SELECT ?') st:bind_param(st:bind_create(1)) st:execute() end
              collectgarbage() collectgarbage()
            end",
            "seed=28",
        )),
        2,
        0,
    );
    assert_eq!(done, Ok(()));
}

#[test]
fn more_parameters_than_usual_are_bound_in_order() {
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          local st, ps = con:prepare('SELECT 1'), {}
          for i = 1, 40 do ps[i] = st:bind_create(sysbench.sql.type.BIGINT) ps[i]:set(i) end
          same(st:bind_param(unpack(ps)), 0) same(st:execute().nrows, 1)
        end",
        "seed=29",
    );
}
