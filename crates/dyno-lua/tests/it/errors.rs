//! Errors that end a script, and their messages.

use crate::running::{Lines, canned, check, dry, environment, run, state};
use dyno_lua::{ErrorKind, LogLevel, STACK};
use dyno_model::target::{Endpoint, Engine, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_script_among_others_does_not_end_the_program() {
    for (call, reported) in [
        ("os.exit(0)", "test.lua:2: the script called os.exit(0)"),
        ("os.exit()", "test.lua:2: the script called os.exit(nil)"),
        ("os.exit(7)", "test.lua:2: the script called os.exit(7)"),
        ("ffi.C.exit(0)", "test.lua:2: the script asked for ffi.C.exit"),
    ] {
        let mut environment = environment(&format!("function event() {call} end"));
        environment.is_alone = false;
        let state = state(&Arc::new(environment)).unwrap_or_else(|error| panic!("{error}"));
        let error = state.call("event", Some(0)).expect_err("it goes on");
        assert_eq!(error.message, reported);
    }
}

#[test]
fn errors_name_file_and_line() {
    let cases = [
        ("function event()\n  error('boo')\nend", ErrorKind::Runtime, "test.lua:3: boo"),
        (
            "function event() local a a.b = 1 end",
            ErrorKind::Runtime,
            "test.lua:2: attempt to index local 'a' (a nil value)",
        ),
        ("function event() error({ a = 1 }) end", ErrorKind::Runtime, "(not a string)"),
        ("function event() error() end", ErrorKind::Runtime, "(not a string)"),
        ("function event() error(5) end", ErrorKind::Runtime, "test.lua:2: 5"),
        (
            "local con\nfunction event() con = sysbench.sql.driver():connect()\n  con.disconnect()\nend",
            ErrorKind::Runtime,
            "test.lua:4: attempt to index local 'self' (a nil value); is there a dot where a colon belongs?",
        ),
        (
            "function event() local con = sysbench.sql.driver():connect()\n  con.bulk_insert_next('(1)')\nend",
            ErrorKind::Runtime,
            "test.lua:3: bad argument #1 to 'bulk_insert_next' (string expected, got nil)",
        ),
        (
            "function event() sysbench.rand.uniform(nil, 5) end",
            ErrorKind::Runtime,
            "test.lua:2: bad argument #1 to 'uniform' (number expected, got nil)",
        ),
        (
            "function event() sysbench.sql.driver('oracle') end",
            ErrorKind::Runtime,
            "test.lua:2: failed to initialize the DB driver",
        ),
    ];
    for (script, kind, message) in cases {
        let (done, _) = run(&dry(script), 1, 0);
        let error = done.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{script}");
    }
}

#[test]
fn missing_functions_and_syntax_errors_have_their_own_kinds() {
    let loaded = state(&dry("")).unwrap();
    assert_eq!(loaded.call("prepare", None).unwrap_err().kind, ErrorKind::MissingFunction);
    let broken = state(&dry("local x = = 1")).err().unwrap();
    assert_eq!(
        (broken.kind, broken.message.as_str()),
        (ErrorKind::Syntax, "test.lua:2: unexpected symbol near '='")
    );
    let raised = state(&dry("error('top')")).err().unwrap();
    assert_eq!((raised.kind, raised.message.as_str()), (ErrorKind::Runtime, "test.lua:2: top"));
}

#[test]
fn errors_of_hooks_are_returned() {
    let script = "sysbench.hooks.before_restart_event = function() error('in the hook') end function event() error({ errcode = 1 }) end";
    let (done, _) = run(&dry(script), 1, 9);
    assert_eq!(done.unwrap_err().message, "test.lua:2: in the hook");
    let script = "sysbench.hooks.sql_error_ignorable = function() error('in the hook') end function event() sysbench.sql.driver():connect():query('SELECT 1') end";
    let (done, _) = run(&Arc::new(canned(script, "fail=deadlock:1,seed=12")), 1, 9);
    assert_eq!(done.unwrap_err().message, "test.lua:2: in the hook");
}

#[test]
fn a_fatal_error_of_a_database_is_logged_as_in_sysbench() {
    let lines = Arc::new(Lines::default());
    let mut environment = canned(
        "function event() local con = sysbench.sql.driver():connect()\n  con:query('SELECT 1')\nend",
        "fail=deadlock:1,seed=11",
    );
    environment.log = Arc::clone(&lines) as Arc<dyn dyno_lua::Log>;
    let (done, reported) = run(&Arc::new(environment), 1, 9);
    let error = done.unwrap_err();
    assert_eq!(error.kind, ErrorKind::FatalSql);
    assert!(error.message.starts_with("test.lua:3: SQL error, errno = "), "{}", error.message);
    assert_eq!(reported.borrow().failed, 1);
    let lines = lines.0.lock().unwrap();
    assert_eq!(lines[0].0, LogLevel::Fatal);
    assert!(
        lines[0].1.starts_with("mysql_drv_query() returned error ")
            && lines[0].1.ends_with(" for query 'SELECT 1'")
    );
}

#[test]
fn an_ignored_error_outside_events_is_reported_with_its_line() {
    let mut environment = canned(
        "function thread_init()\n  sysbench.sql.driver():connect():query('SELECT 1')\nend function event() end",
        "fail=deadlock:1,seed=11",
    );
    environment.databases.access_mut(Engine::Mysql).ignored.all = true;
    let (done, _) = run(&Arc::new(environment), 1, 9);
    let error = done.unwrap_err();
    assert_eq!(error.kind, ErrorKind::FatalSql);
    assert!(error.message.starts_with("test.lua:3: SQL error, errno = "), "{}", error.message);
}

#[test]
fn an_ignored_error_restarts_the_event_with_all_its_fields() {
    let mut environment = canned(
        "local con, tries = nil, 0
        function thread_init() con = sysbench.sql.driver():connect() end
        sysbench.hooks.before_restart_event = function(problem)
          same(problem.connection, con) same(problem.query, '<prepared statement>') same(problem.errcode, 1)
          same(type(problem.sql_errno), 'number') same(type(problem.sql_state), 'string') same(type(problem.sql_errmsg), 'string')
          same(con.error, sysbench.sql.error.IGNORABLE)
          tries = tries + 1
        end
        function event() con:prepare('UPDATE t SET a = 1'):execute() end
        function thread_done() same(tries, 3) end",
        "update.fail=deadlock:1,seed=13",
    );
    environment.databases.access_mut(Engine::Mysql).ignored.all = true;
    let (done, reported) = run(&Arc::new(environment), 1, 3);
    assert_eq!(done, Ok(()));
    assert_eq!((reported.borrow().failed, reported.borrow().abandoned), (4, 1));
}

#[test]
fn the_hook_can_ignore_a_fatal_error() {
    let environment = canned(
        "local asked = 0
        sysbench.hooks.sql_error_ignorable = function(problem) asked = asked + 1 same(problem.errcode, nil) return asked < 3 end
        function event() sysbench.sql.driver():connect():query('SELECT 1') end",
        "fail=deadlock:1,seed=14",
    );
    let (done, reported) = run(&Arc::new(environment), 1, 9);
    assert_eq!(done.unwrap_err().kind, ErrorKind::FatalSql);
    assert_eq!(reported.borrow().restarted, 2);
}

#[test]
fn a_lost_connection_is_reopened_if_its_error_is_ignored() {
    let mut environment = canned(
        "function thread_init() con = sysbench.sql.driver():connect() st = con:prepare('SELECT 1') end
        function event() st:execute() end",
        "disconnect_after=3,seed=15",
    );
    environment.databases.access_mut(Engine::Mysql).ignored.codes = [2006, 2013].into();
    let (done, reported) = run(&Arc::new(environment), 10, 9);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!(reported.stopped, 10);
    assert!(
        reported.reconnected >= 2 && reported.restarted == reported.reconnected,
        "{reported:?}"
    );
}

#[test]
fn a_connection_that_cannot_be_opened_is_an_error_of_its_own_kind() {
    let lines = Arc::new(Lines::default());
    let mut none = environment("function event() sysbench.sql.driver():connect() end");
    none.log = Arc::clone(&lines) as Arc<dyn dyno_lua::Log>;
    let (done, _) = run(&Arc::new(none), 1, 0);
    let error = done.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Database, "test.lua:2: connection creation failed")
    );
    assert_eq!(lines.texts(), ["No MySQL hosts specified, aborting"]);
}

#[test]
fn an_unknown_host_has_the_error_number_of_mysqls_library() {
    let lines = Arc::new(Lines::default());
    let mut lost = environment("function event() sysbench.sql.driver():connect() end");
    lost.log = Arc::clone(&lines) as Arc<dyn dyno_lua::Log>;
    let endpoint = Endpoint::Tcp { host: "no.such.host.invalid".to_owned(), port: 1 };
    lost.databases.access_mut(Engine::Mysql).targets = vec![Target::new(Engine::Mysql, endpoint)];
    let (done, _) = run(&Arc::new(lost), 1, 0);
    assert_eq!(done.unwrap_err().message, "test.lua:2: connection creation failed");
    let texts = lines.texts();
    assert_eq!(
        texts[0],
        "unable to connect to MySQL server on host 'no.such.host.invalid', port 1, aborting..."
    );
    assert!(
        texts[1].starts_with("error 2005: Unknown server host 'no.such.host.invalid' ("),
        "{texts:?}"
    );
}

#[test]
fn an_interrupted_state_ends() {
    let mut environment = canned(
        "function event() sysbench.sql.driver():connect():query('SELECT 1') end",
        "hang_after=0,seed=16",
    );
    environment.databases.access_mut(Engine::Mysql).ignored.all = true;
    let state = state(&Arc::new(environment)).unwrap();
    let interrupter = state.interrupter();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Whether the interrupt comes before, during or after the start of the hanging
            // statement.
            while !is_over.load(Ordering::Relaxed) {
                interrupter.interrupt();
                std::thread::yield_now();
            }
        });
        let error = state.call("event", None).unwrap_err();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(error.kind, ErrorKind::FatalSql);
    });
}

/// Runs a check on a thread with the stack that scripts have. One that overflows it ends the
/// program of the tests.
fn checked_on_a_thread(script: &str) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, || check(script)).unwrap().join().unwrap();
    });
}

#[test]
fn calls_that_are_nested_without_end_are_an_error_of_the_script() {
    for body in [
        "return 1 + nest()",
        "return (string.gsub('a', '.', nest))",
        "local text = ('a'):gsub('.', function() nest() end) return text",
        "return (string.gsub('a', '.', setmetatable({}, { __index = nest })))",
        "table.sort({ 1, 2, 3 }, nest)",
        "table.sort({ 1, 2, 3 }, function() return (string.gsub('a', '.', nest)) == 'a' end)",
        "return string.format('%s', setmetatable({}, { __tostring = nest }))",
        "assert(pcall(nest))",
        "assert(xpcall(nest, function(why) return why end))",
        "assert(load(nest))",
        "table.foreach({ 1 }, nest)",
        "assert(coroutine.resume(coroutine.create(nest)))",
        "coroutine.wrap(nest)()",
        "coroutine.wrap(function() return (string.gsub('a', '.', nest)) end)()",
        "return (string.gsub('a', '.', coroutine.wrap(nest)))",
    ] {
        checked_on_a_thread(&format!(
            "local function nest() {body} end\nfunction event() fails('overflow', nest) end"
        ));
    }
}

#[test]
fn a_limit_on_nested_calls_leaves_ordinary_ones_alone() {
    checked_on_a_thread(
        "local function nested(levels)
           return levels == 0 and 'end' or (string.gsub('a', '.', function() return nested(levels - 1) end))
         end
         local function chain(levels)
           return levels == 0 and 'end' or coroutine.wrap(function() return chain(levels - 1) end)()
         end
         function event()
           same(nested(100), 'end')
           same(chain(50), 'end')
           same(pcall(string.gsub, 'a', '(', print), false)
           same(select(2, string.gsub('abab', 'a', { a = 'c' }, 1)), 1)
           -- What failed leaves nothing behind.
           for _ = 1, 2000 do pcall(string.gsub, 'a', '.', function() error('no') end) end
           local numbers = coroutine.wrap(function(first) local more = coroutine.yield(first + 1) return more * 2 end)
           same(numbers(1), 2)
           same(numbers(4), 8)
           fails('dead', numbers)
           local thread = coroutine.create(function(...) return select('#', ...) end)
           same(select(2, coroutine.resume(thread, nil, nil)), 2)
           same(coroutine.resume(thread), false)
           fails('function expected', coroutine.wrap, 5)
         end",
    );
}
