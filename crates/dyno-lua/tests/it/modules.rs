//! Where scripts and modules are found.

use crate::running::{dry, state};
use dyno_lua::{Environment, ErrorKind, Role, ScriptSource, State, bundled, bundled_names};
use std::sync::Arc;

fn load(source: ScriptSource) -> Result<State, dyno_lua::ScriptError> {
    let mut environment = Environment::new(source);
    environment.command = Some("run".to_owned());
    environment.databases.dry_run = true;
    State::load(&Arc::new(environment), Role::Thread(0))
}

#[test]
fn a_file_is_executed_and_its_errors_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.lua");
    std::fs::write(&path, "#!/usr/bin/env sysbench\nfunction event()\n  error('here')\nend\n")
        .unwrap();
    let state = load(ScriptSource::File(path.clone())).unwrap();
    let message = state.call("event", None).unwrap_err().message;
    assert!(message.ends_with("own.lua:3: here"), "{message}");
    let missing = load(ScriptSource::File(folder.path().join("no.lua"))).err().unwrap();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    std::fs::write(&path, "local x = = 1").unwrap();
    let broken = load(ScriptSource::File(path)).err().unwrap();
    assert_eq!(broken.kind, ErrorKind::Syntax);
    assert!(
        broken.message.ends_with("own.lua:1: unexpected symbol near '='"),
        "{}",
        broken.message
    );
}

#[test]
fn bundled_scripts_need_no_file() {
    for name in bundled_names() {
        assert!(bundled(name).is_some());
        let state = load(ScriptSource::Module(name.to_owned()))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            state.has_function("event"),
            !["oltp_common", "oltp_tables"].contains(&name),
            "{name}"
        );
    }
    let error = load(ScriptSource::Module("no_such_module".to_owned())).err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[test]
fn a_file_on_the_path_has_priority_over_a_bundled_module() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("oltp_common.lua"), "return 'my own'").unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deep/module.lua"), "return 'deep'").unwrap();
    let script = format!(
        "package.path = '{}/?.lua;' .. package.path same(require('oltp_common'), 'my own') same(require('deep.module'), 'deep') same(require('deep/module'), 'deep')",
        folder.path().display()
    );
    state(&dry(&script)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn bundled_transactions_run_without_a_server() {
    for name in bundled_names().filter(|name| *name != "oltp_common") {
        let state = load(ScriptSource::Module(name.to_owned())).unwrap();
        let options = state.declared_options().unwrap().unwrap_or_default();
        let mut values: std::collections::BTreeMap<_, _> =
            options.into_iter().map(|option| (option.name, option.default)).collect();
        values.insert("threads".to_owned(), dyno_lua::OptionValue::Number(1.0));
        state.set_options(&values, &[]).unwrap();
        for function in ["thread_init", "event", "event", "thread_done"] {
            if state.has_function(function) {
                state
                    .call(function, Some(0))
                    .unwrap_or_else(|error| panic!("{name}: {function}: {error}"));
            }
        }
    }
}
