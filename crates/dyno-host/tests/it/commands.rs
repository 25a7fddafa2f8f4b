//! Commands of the user, and the processes that they leave running.

use crate::probe::existing;
use dyno_host::hooks::LifecycleHooks;
use dyno_host::shell::{self, Remaining};
use dyno_model::plan::{HooksPlan, PasswordSource};
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use dyno_testkit::{is_process, supervisor_command, wait_until};
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn processes_left_by_a_command_are_killed_unless_they_are_meant_to_stay_and_it_succeeded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let left = |end: &str, remaining: Remaining| {
        // In a session of its own, like servers.
        let command = format!("setsid sleep 300 & echo $! > '{}'\n{end}", file.display());
        let limit = Duration::from_secs(60);
        let ended = shell::run("it", &command, Vec::new(), limit, remaining, &supervisor_command());
        (ended.is_ok(), std::fs::read_to_string(&file).unwrap().trim().parse::<u32>().unwrap())
    };
    for (end, remaining) in [("true", Remaining::End), ("exit 3", Remaining::Stay)] {
        let (is_ok, process) = left(end, remaining);
        assert_eq!(is_ok, end == "true");
        wait_until("it is ended", || !is_process(process));
    }
    let (is_ok, process) = left("true", Remaining::Stay);
    assert!(is_ok && is_process(process));
    kill(process);
}

#[test]
fn what_a_command_leaves_that_fails_to_restore_settings_is_ended_and_a_restarted_server_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let target = Target::new(Engine::Postgres, Endpoint::Unix(folder.path().join("none")));
    let system = existing(&target, PasswordSource::None);
    let left = |end: &str| {
        let plan = HooksPlan {
            apply: Some(format!("setsid sleep 300 & echo $! > '{}'\n{end}", file.display())),
            restart: None,
            exclusive: None,
            time_limit: Duration::from_millis(500).into(),
        };
        let hooks = LifecycleHooks {
            name: "it",
            system: &system,
            plan: &plan,
            query_mode: QueryMode::Prepared,
            connect_timeout: Duration::from_secs(1),
            supervisor: supervisor_command(),
            logs: None,
        };
        let restoration = hooks.promise(BTreeMap::new()).unwrap();
        let told = hooks.restore(restoration).unwrap_err().to_string();
        (told, std::fs::read_to_string(&file).unwrap().trim().parse::<u32>().unwrap())
    };
    for (end, reason) in
        [("exit 3", "failed (exit status: 3)"), ("sleep 300", "did not end within 1 s")]
    {
        let (told, process) = left(end);
        assert!(told.contains(reason), "{told}");
        wait_until("it is ended", || !is_process(process));
    }
    let (told, process) = left("true");
    assert!(told.contains("it was not ready within 0.5 s") && is_process(process), "{told}");
    kill(process);
}

fn kill(process: u32) {
    let killed = std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.unwrap().success());
}
