//! States, events, restarts, commands.

use crate::running::{check, dry, environment, run, state, text};
use dyno_lua::{Environment, ErrorKind, Role, ScriptSource, State};
use dyno_model::counters::ScriptCounter;
use std::sync::Arc;

#[test]
fn the_top_level_sees_the_command_but_no_options() {
    check(
        "same(sysbench.opt, nil) same(sysbench.cmdline.command, 'run') same(sysbench.cmdline.script_path, 'test.lua')
        same(test, 'test.lua') same(sysbench.version, '1.0.20') same(sysbench.version_string, 'sysbench 1.0.20')
        same(sysbench.error.RESTART_EVENT, 1) same(sysbench.sql.type.VARCHAR, 12) same(sysbench.cmdline.ARG_MAX, 8)
        function event() end",
    );
}

#[test]
fn every_library_of_luajit_is_loaded_and_the_compiler_is_on() {
    check(
        "assert(jit.status()) assert(ffi.abi('le') ~= nil) same(bit.band(6, 3), 2) same(require('ffi'), ffi)
        assert(io.open and os.execute and os.getenv and debug.getinfo and string.dump and newproxy and loadstring)
        assert(table.getn and table.maxn and math.pow and unpack and coroutine.wrap)
        same(string.format('%d', 3.7), '3') same('sbtest' .. 10 / 2, 'sbtest5') same(1 .. '', '1')
        function event() end",
    );
}

#[test]
fn symbols_of_the_process_and_of_sysbench_are_in_ffi_c() {
    check(
        "ffi.cdef [[ int getpid(void); int usleep(unsigned int); void sb_counter_inc(int, sb_counter_type); bool sb_more_events(int); ]]
        function event()
          assert(ffi.C.getpid() > 0) same(ffi.C.SB_CNT_ERROR, 4) same(ffi.C.SB_CNT_BYTES_WRITTEN, 7)
          same(ffi.C.sb_more_events(0), false) ffi.C.sb_counter_inc(sysbench.tid, 'SB_CNT_READ')
          fails('no_such_symbol', function() return ffi.C.no_such_symbol end)
        end",
    );
}

#[test]
fn events_run_until_the_meter_ends_and_receive_the_thread_id() {
    let environment = dry("local n = 0 function thread_init(id) same(id, 0) end
        function event(id) same(id, 0) n = n + 1 end
        function thread_done(id) same(n, 5) end");
    let (done, reported) = run(&environment, 5, 0);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!((reported.started, reported.stopped, reported.abandoned), (5, 5, 0));
}

#[test]
fn truthy_event_result_ends_the_thread_and_is_not_counted() {
    for (value, started, stopped) in
        [("0", 3, 2), ("true", 3, 2), ("'x'", 3, 2), ("nil", 5, 5), ("false", 5, 5)]
    {
        let script =
            format!("local n = 0 function event() n = n + 1 if n == 3 then return {value} end end");
        let (done, reported) = run(&dry(&script), 5, 0);
        assert_eq!(done, Ok(()));
        let reported = reported.borrow();
        assert_eq!(
            (reported.started, reported.stopped, reported.abandoned),
            (started, stopped, started - stopped),
            "{value}"
        );
    }
}

#[test]
fn functions_of_the_main_state_get_no_argument() {
    let environment = dry(
        "for _, name in ipairs { 'init', 'prepare', 'cleanup', 'help', 'done' } do _G[name] = function(...) same(select('#', ...), 0) end end",
    );
    let state = State::load(&environment, Role::Main).unwrap();
    for name in ["init", "prepare", "cleanup", "help", "done"] {
        assert_eq!(state.call(name, None), Ok(()), "{name}");
    }
}

#[test]
fn each_role_has_its_number() {
    let script = "function number(n) same(sysbench.tid, n) same(thread_id, n) end";
    let mut environment = environment(script);
    environment.threads = 4;
    let environment = Arc::new(environment);
    for (role, number) in [(Role::Main, 0), (Role::Thread(3), 3), (Role::Reporter, 4)] {
        State::load(&environment, role).unwrap().call("number", Some(number)).unwrap();
    }
}

#[test]
fn a_restart_repeats_the_same_event_after_the_hook() {
    let environment = dry("local tries, hooked = 0, 0
        sysbench.hooks.before_restart_event = function(problem) same(problem.mine, 7) hooked = hooked + 1 end
        function event()
          tries = tries + 1
          if tries < 4 then error({ errcode = sysbench.error.RESTART_EVENT, mine = 7 }) end
        end
        function thread_done() same(tries, 4) same(hooked, 3) end");
    let (done, reported) = run(&environment, 1, 100);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!((reported.started, reported.stopped, reported.restarted), (1, 1, 3));
}

#[test]
fn restarts_end_with_the_run_and_at_their_limit_the_event_is_given_up() {
    let script = "function event() error({ errcode = 1 }) end";
    let (done, reported) = run(&dry(script), 9, 5);
    assert_eq!(done, Ok(()));
    assert_eq!(
        (reported.borrow().started, reported.borrow().abandoned, reported.borrow().restarted),
        (1, 1, 5)
    );

    let mut limited = environment(script);
    limited.restarts_max = 3;
    let (done, reported) = run(&Arc::new(limited), 9, 100);
    assert_eq!(done, Ok(()));
    let reported = reported.borrow();
    assert_eq!(
        (reported.started, reported.given_up, reported.restarted, reported.stopped),
        (9, 9, 27, 0)
    );
}

#[test]
fn a_script_may_define_its_own_event_loop() {
    let environment =
        dry("ffi.cdef [[ bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);
          void sb_counter_inc(int, sb_counter_type); uint64_t sb_counter_val(int, sb_counter_type); ]]
        function event() end
        function thread_run(id)
          while ffi.C.sb_more_events(id) do
            ffi.C.sb_event_start(id) event(id) ffi.C.sb_event_stop(id)
            ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_ERROR)
          end
          same(tonumber(ffi.C.sb_counter_val(id, ffi.C.SB_CNT_ERROR)), 3)
        end");
    let (done, reported) = run(&environment, 3, 0);
    assert_eq!(done, Ok(()));
    assert_eq!((reported.borrow().started, reported.borrow().stopped), (3, 3));
    assert_eq!(reported.borrow().counted, [(ScriptCounter::Errors, 1); 3]);
}

#[test]
fn commands_are_found_in_their_table() {
    let environment = dry(
        "sysbench.cmdline.commands = {
          all = { function() end, sysbench.cmdline.PARALLEL_COMMAND }, odd = { function() return 1 end, 1 },
          no = { function() return false end }, hollow = { nil }, wrong = 5, broken = { function() error('boo') end },
        }
        function event()
          assert(sysbench.cmdline.command_defined('all') and not sysbench.cmdline.command_defined('hollow'))
          assert(sysbench.cmdline.command_parallel('all') and not sysbench.cmdline.command_parallel('odd'))
          same(sysbench.cmdline.call_command('odd'), 1)
        end",
    );
    let state = state(&environment).unwrap();
    let found = |name| state.is_parallel_command(name);
    assert_eq!((found("all"), found("odd"), found("no")), (Some(true), Some(false), Some(false)));
    assert_eq!((found("hollow"), found("wrong"), found("prepare")), (None, None, None));
    assert_eq!(
        (state.call_command("all"), state.call_command("odd"), state.call_command("no")),
        (Ok(true), Ok(true), Ok(false))
    );
    assert_eq!(state.call_command("broken").unwrap_err().message, "test.lua:4: boo");
    state.call("event", Some(0)).unwrap();
}

#[test]
fn states_of_one_thread_are_independent() {
    let environment =
        dry("count = 0 function event() count = count + 1 end function total() same(count, 2) end");
    let (first, second) = (state(&environment).unwrap(), state(&environment).unwrap());
    for state in [&first, &second, &second, &first] {
        state.call("event", Some(0)).unwrap();
    }
    drop(second);
    first.call("total", None).unwrap();
}

#[test]
fn a_script_may_begin_with_a_shebang_line() {
    let script = ScriptSource::Text {
        name: "s".to_owned(),
        text: b"#!/usr/bin/env sysbench\nerror('second line')".to_vec(),
    };
    let error = State::load(&Arc::new(Environment::new(script)), Role::Main).err().unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Runtime, "s:2: second line"));
}

#[test]
fn scripts_run_on_separate_threads() {
    let environment =
        dry("function event(id) same(id, sysbench.tid) same(sysbench.rand.uniform(1, 1), 1) end");
    let _ = text("");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let environment = &environment;
            scope.spawn(move || {
                let state = State::load(environment, Role::Thread(thread)).unwrap();
                state.call("event", Some(thread)).unwrap();
            });
        }
    });
}
