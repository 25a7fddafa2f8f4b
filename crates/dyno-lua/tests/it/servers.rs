//! Scripts with real servers, which each test starts and stops.

use crate::running::{Lines, environment, run};
use dyno_lua::Environment;
use dyno_model::counters::OutcomeClass;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use dyno_testkit::{RunningServer, running_server};
use std::sync::Arc;

/// An environment whose drivers all connect to this target.
fn reaching(script: &str, target: &Target) -> Environment {
    let mut environment = environment(script);
    let databases = &mut environment.databases;
    match target.engine {
        Engine::Postgres => {
            databases.driver = "pgsql".to_owned();
            databases.access_mut(Engine::Postgres).targets = vec![target.clone()];
        }
        Engine::Sqlite => {
            databases.driver = "sqlite".to_owned();
            databases.access_mut(Engine::Sqlite).targets = vec![target.clone()];
        }
        _ => {
            databases.access_mut(Engine::Mysql).targets = vec![target.clone()];
        }
    }
    environment
}

fn passes(script: &str, target: &Target) {
    let (done, _) = run(&Arc::new(reaching(script, target)), 1, 0);
    done.unwrap_or_else(|error| panic!("{}: {error}", target.engine));
}

/// Behaviour common to every database, written for all three dialects.
const ALIKE: &str = "function event()
  local drv = sysbench.sql.driver() local con = drv:connect()
  con:query('DROP TABLE IF EXISTS t') con:query('CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, c VARCHAR(20), d DOUBLE PRECISION)')
  same(con:query(\"INSERT INTO t VALUES (1, 'one', 1.5), (2, NULL, -2), (3, '', NULL)\"), nil)
  local rs = con:query('SELECT id, c, d FROM t ORDER BY id') same(rs.nrows, 3) same(rs.nfields, 3)
  local row = rs:fetch_row() same(row[1], '1') same(row[2], 'one') same(row[3], '1.5')
  row = rs:fetch_row() same(row[2], nil) assert(row[3] == '-2' or row[3] == '-2.0', row[3]) row = rs:fetch_row() same(row[2], '') same(row[3], nil) same(rs:fetch_row(), nil)
  same(select('#', con:query_row('SELECT id, c FROM t WHERE id = 2')), 2) same(con:query_row('SELECT id FROM t WHERE id = 9'), nil)
  local id, c = con:query_row('SELECT id, c FROM t WHERE id = 1') same(id + 1, 2) same(c, 'one')
  same(con:query('SELECT id FROM t WHERE id = 9').nrows, 0) same(con:query('SELECT id, c FROM t WHERE id = 9').nfields, 2)

  local st = con:prepare('SELECT id, c, d FROM t WHERE id >= ? ORDER BY id') local p = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(p) p:set(2) rs = st:execute() same(rs.nrows, 2) same(rs.nfields, 3)
  row = rs:fetch_row() same(row[1], '2') same(row[2], nil) assert(row[3] == '-2' or row[3] == '-2.0', row[3])
  p:set(9) rs = st:execute() same(rs.nrows, 0) same(rs.nfields, 3) same(rs:fetch_row(), nil)
  local ins = con:prepare('INSERT INTO t VALUES (?, ?, ?)')
  local a, b, d = ins:bind_create(sysbench.sql.type.BIGINT), ins:bind_create(sysbench.sql.type.VARCHAR, 5), ins:bind_create(sysbench.sql.type.DOUBLE)
  ins:bind_param(a, b, d) a:set(10.9) b:set('abcdefgh') d:set(0.25) same(ins:execute(), nil)
  a:set(11) b:set(nil) d:set(nil) ins:execute() a:set(12) b:set_rand_str('##-@@') d:set(3) ins:execute()
  same(con:query_row('SELECT c FROM t WHERE id = 10'), 'abcde') same(con:query_row('SELECT count(*) FROM t WHERE c IS NULL'), '2')
  assert(con:query_row('SELECT c FROM t WHERE id = 12'):find('^%d%d%-%l%l$')) same(con:query_row('SELECT count(*) FROM t WHERE d = 0.25'), '1')

  con:bulk_insert_init('INSERT INTO t (id, c) VALUES') for i = 100, 5099 do con:bulk_insert_next(string.format(\"(%d, 'row %d')\", i, i)) end con:bulk_insert_done()
  same(con:query_row('SELECT count(*) FROM t'), '5006')

  con:reconnect() p:set(12) same(st:execute():fetch_row()[1], '12')
  local second = drv:connect() second:query('BEGIN') second:query('DELETE FROM t') second:query('ROLLBACK') second:disconnect()
  same(con:query_row('SELECT count(*) FROM t'), '5006') st:close() ins:close()
  con:query('DROP TABLE t') con:disconnect()
end";

/// Statement counts by outcome, as in sysbench.
const COUNTED: &str = "function thread_init()
  con = sysbench.sql.driver():connect() con:query('DROP TABLE IF EXISTS t') con:query('CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)')
  con:query('INSERT INTO t VALUES (1)') by = con:prepare('SELECT id FROM t WHERE id = ?') p = by:bind_create(sysbench.sql.type.INT) by:bind_param(p)
end
function event() con:query('BEGIN') p:set(1) by:execute() p:set(9) by:execute() con:query('UPDATE t SET id = 2') con:query('UPDATE t SET id = 1 WHERE id = 77') con:query('ROLLBACK') end";

fn checks_alike(target: &Target) {
    passes(ALIKE, target);
    let simple = Target { query_mode: QueryMode::Simple, ..target.clone() };
    passes(ALIKE, &simple);
    let (done, reported) = run(&Arc::new(reaching(COUNTED, target)), 2, 0);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!(reported.count(OutcomeClass::Read), 4, "{}", target.engine);
    assert_eq!(reported.count(OutcomeClass::Write), 3, "{}", target.engine);
    assert_eq!(reported.count(OutcomeClass::Other), 2 + 2 * 3, "{}", target.engine);
}

/// Errors have the database's own number, state and message, and the script's line.
fn checks_errors(target: &Target, number: &str, log: &str) {
    let script = "function event() local con = sysbench.sql.driver():connect()\n  con:query('SELECT * FROM nosuch')\nend";
    let lines = Arc::new(Lines::default());
    let mut environment = reaching(script, target);
    environment.log = Arc::clone(&lines) as Arc<dyn dyno_lua::Log>;
    let (done, _) = run(&Arc::new(environment), 1, 0);
    let message = done.unwrap_err().message;
    assert!(message.starts_with(&format!("test.lua:3: SQL error, {number}: ")), "{message}");
    assert!(lines.texts()[0].starts_with(log), "{:?}", lines.texts());
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          fails('SQL error', con.query, con, 'SELECT * FROM nosuch') same(con.error, sysbench.sql.error.FATAL) assert(#con.sql_errmsg > 5)
          fails('nosuch', con.prepare, con, 'SELECT * FROM nosuch WHERE a = ?') fails('nosuch', con.query_row, con, 'SELECT * FROM nosuch')
          local st = con:prepare('SELECT ?') fails('parameter', st.execute, st)
          con:bulk_insert_init('INSERT INTO nosuch VALUES') con:bulk_insert_next('(1)') fails('db_bulk_insert_done() failed', con.bulk_insert_done, con)
          same(con:query_row('SELECT 1'), '1')
        end",
        target,
    );
    let mut nobody = target.clone();
    nobody.endpoint = match target.engine {
        Engine::Sqlite => Endpoint::File("/nonexistent/folder/file.db".into()),
        _ => Endpoint::Unix("/nonexistent/socket".into()),
    };
    let (done, _) = run(
        &Arc::new(reaching("function event() sysbench.sql.driver():connect() end", &nobody)),
        1,
        0,
    );
    assert_eq!(done.unwrap_err().message, "test.lua:2: connection creation failed");
}

/// A violated unique key restarts the event when its code is ignored, after a rollback.
fn checks_restart(target: &Target, ignore: impl FnOnce(&mut Environment)) {
    let mut environment = reaching(
        "local tries = 0
        function thread_init() con = sysbench.sql.driver():connect() con:query('DROP TABLE IF EXISTS r') con:query('CREATE TABLE r (id INTEGER NOT NULL PRIMARY KEY)') con:query('INSERT INTO r VALUES (1)') end
        function event()
          tries = tries + 1
          con:query('BEGIN') con:query('INSERT INTO r VALUES (' .. 10 + tries .. ')')
          if tries < 3 then con:query('INSERT INTO r VALUES (1)') end
          con:query('COMMIT')
        end
        function thread_done() same(tries, 3) same(con:query_row('SELECT count(*) FROM r'), '2') end",
        target,
    );
    ignore(&mut environment);
    let (done, reported) = run(&Arc::new(environment), 1, 9);
    assert_eq!(done, Ok(()), "{}", target.engine);
    assert_eq!((reported.borrow().restarted, reported.borrow().failed), (2, 2));
}

/// A killed connection is reopened with its statements when its error is ignored.
fn checks_killed(target: &Target, own: &str, kill: &str, ignore: impl FnOnce(&mut Environment)) {
    let script = format!(
        "local kills = 0
        function thread_init() drv = sysbench.sql.driver() con = drv:connect() killer = drv:connect() st = con:prepare('SELECT 5') end
        function event()
          if kills < 2 then
            kills = kills + 1
            killer:query(string.format('{kill}', con:query_row('{own}')))
            for i = 1, 10000 do st:execute() end
            error('not killed')
          end
          same(st:execute():fetch_row()[1], '5')
        end"
    );
    let mut environment = reaching(&script, target);
    ignore(&mut environment);
    let (done, reported) = run(&Arc::new(environment), 2, 1000);
    assert_eq!(done, Ok(()), "{}", target.engine);
    assert_eq!((reported.borrow().reconnected, reported.borrow().stopped), (2, 2));
}

fn mysql_family(server: &RunningServer) {
    let target = &server.target();
    checks_alike(target);
    checks_errors(
        target,
        "errno = 1146, state = '42S02'",
        "mysql_drv_query() returned error 1146 (",
    );
    checks_restart(target, |environment| {
        environment.databases.access_mut(Engine::Mysql).ignored.codes = [1062].into();
    });
    checks_killed(target, "SELECT CONNECTION_ID()", "KILL %d", |environment| {
        environment.databases.access_mut(Engine::Mysql).ignored.codes =
            [2006, 2013, 1317, 1927].into();
    });
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          local rs = con:query('SELECT 1, 2; SELECT 3; SET @a = 1; SELECT 4') same(rs:fetch_row()[2], '2') assert(con:more_results())
          same(con:next_result():fetch_row()[1], '3') same(con:next_result(), nil) assert(con:more_results())
          same(con:next_result():fetch_row()[1], '4') assert(not con:more_results()) same(con:next_result(), nil)
          con:query('SELECT 1; SELECT 2') same(con:query_row('SELECT 3'), '3')
          con:query('SELECT 1; SELECT * FROM nowhere') local ok, problem = pcall(con.query, con, 'SELECT 3')
          same(ok, false) assert(problem:find('errno = 1146', 1, true)) same(con:query_row('SELECT 3'), '3')
          con:query('DROP PROCEDURE IF EXISTS p') con:query('CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2, 3; END')
          local st = con:prepare('CALL p()') rs = st:execute() same(rs:fetch_row()[1], '1') rs = st:next_result() same(rs.nfields, 2) same(rs:fetch_row()[2], '3')
          con:query('DROP TABLE IF EXISTS v') con:query(\"CREATE TABLE v (a BIT(8), b DECIMAL(10,3), c DATE, d DATETIME(3), e TIME, f FLOAT, g DOUBLE, h BLOB, i INT ZEROFILL, j BIGINT UNSIGNED, k YEAR, l JSON)\")
          con:query(\"INSERT INTO v VALUES (b'01000001', 1.5, '2026-01-02', '2026-01-02 03:04:05.678', '-01:02:03', 1.1, 1e20, x'00FF41', 5, 18446744073709551615, 2026, '[1]')\")
          local function row(rs) return table.concat(rs:fetch_row(), '|') end
          local expected = 'A|1.500|2026-01-02|2026-01-02 03:04:05.678|-01:02:03|1.1|1e20|\\0\\255A|18446744073709551615|2026|[1]'
          local columns = 'a, b, c, d, e, f, g, h, j, k, l'
          same(row(con:query('SELECT ' .. columns .. ' FROM v')), expected) same(row(con:prepare('SELECT ' .. columns .. ' FROM v'):execute()), expected)
          same(con:query_row('SELECT i FROM v'), '0000000005')
          con:prepare('BEGIN'):execute() con:prepare('COMMIT'):execute() con:query('DROP TABLE v') con:query('DROP PROCEDURE p')
          same(con:query_row(\"SELECT '\\255'\") ~= nil, true)
          con:query(\"XA START 'x'\") con:query(\"XA END 'x'\") con:query(\"XA ROLLBACK 'x'\")
        end",
        target,
    );
}

#[test]
fn scripts_run_on_mariadb() {
    let Some(server) = running_server(ServerKind::Mariadb, &[]) else { return };
    mysql_family(&server);
    drop(server.stop());
}

#[test]
fn scripts_run_on_mysql() {
    let Some(server) = running_server(ServerKind::Mysql, &[]) else { return };
    mysql_family(&server);
    drop(server.stop());
}

#[test]
fn scripts_run_on_postgres() {
    let Some(server) = running_server(ServerKind::Postgres, &[]) else { return };
    let target = &server.target();
    checks_alike(target);
    checks_errors(
        target,
        "errno = 0, state = '42P01'",
        "PQexec() failed: 7 relation \"nosuch\" does not exist",
    );
    checks_restart(target, |_| {});
    checks_killed(
        target,
        "SELECT pg_backend_pid()",
        "SELECT pg_terminate_backend(%d)",
        |environment| {
            environment.databases.access_mut(Engine::Postgres).ignored.all = true;
        },
    );
    passes(
        "function event() local con = sysbench.sql.driver():connect()
          con:query(\"CREATE TEMP TABLE v (a bytea, b numeric(10,3), c date, d timestamp, e real, f float8, g uuid, h json, i bool, j int8)\")
          con:query([[INSERT INTO v VALUES ('\\x00ff41', 1.5, '2026-01-02', '2026-01-02 03:04:05.678', 1.1, 1e20, '00000000-0000-0000-0000-000000000001', '[1]', true, -9223372036854775808)]])
          local expected = [[\\x00ff41|1.500|2026-01-02|2026-01-02 03:04:05.678|1.1|1e+20|00000000-0000-0000-0000-000000000001|[1]|t|-9223372036854775808]]
          local function row(rs) return table.concat(rs:fetch_row(), '|') end
          same(row(con:query('SELECT * FROM v')), expected) same(row(con:prepare('SELECT * FROM v'):execute()), expected)
          local st = con:prepare('SELECT count(*) FROM v WHERE g = CAST(? AS UUID)') local p = st:bind_create(sysbench.sql.type.CHAR, 36) st:bind_param(p)
          p:set('00000000-0000-0000-0000-000000000001') same(st:execute():fetch_row()[1], '1')
          st:close() fails('the statement is closed', st.execute, st)
          local rs = con:query('SELECT 1; SELECT 2, 3') same(rs.nrows, 1) same(rs:fetch_row()[2], '3')
        end",
        target,
    );
    drop(server.stop());
}

#[test]
fn scripts_run_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("test.db")));
    checks_alike(&target);
    checks_errors(&target, "errno = 1, state = ''", "SQLite returned error 1 (");
    checks_restart(&target, |environment| {
        environment.databases.access_mut(Engine::Sqlite).ignored.all = true;
    });
}

#[test]
fn connections_collected_by_lua_are_closed() {
    let Some(server) = running_server(ServerKind::Mariadb, &[]) else { return };
    passes(
        "function event() local drv = sysbench.sql.driver() local con = drv:connect()
          for i = 1, 20 do drv:connect() end
          collectgarbage() collectgarbage() con:prepare('SELECT 1')
          for i = 1, 200 do
            if con:query_row('SELECT count(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID()') + 0 <= 1 then return end
            con:query('SELECT SLEEP(0.05)')
          end
          error('connections are left')
        end",
        &server.target(),
    );
    drop(server.stop());
}

#[test]
fn connections_use_the_addresses_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Target::new(Engine::Sqlite, Endpoint::File(folder.path().join(name)));
    let mut environment = environment(
        "function event() local drv = sysbench.sql.driver('mysql')
          for i = 1, 4 do drv:connect():query('CREATE TABLE t' .. i .. ' (a int)') end
        end",
    );
    // The driver's name does not determine the engine.
    environment.databases.access_mut(Engine::Mysql).targets = vec![file("a.db"), file("b.db")];
    let (done, _) = run(&Arc::new(environment), 1, 0);
    assert_eq!(done, Ok(()));
    for (name, expected) in [("a.db", "t1 t3"), ("b.db", "t2 t4")] {
        let script = format!(
            "function event() same(sysbench.sql.driver():connect():query_row(\"SELECT group_concat(name, ' ') FROM sqlite_master\"), '{expected}') end"
        );
        passes(&script, &file(name));
    }
}
