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
fn leftover_processes_stay_only_if_allowed_and_command_succeeds() {
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
fn failed_restore_kills_leftovers_but_not_a_restarted_server() {
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
        let reported = hooks.restore(restoration).unwrap_err().to_string();
        (reported, std::fs::read_to_string(&file).unwrap().trim().parse::<u32>().unwrap())
    };
    for (end, reason) in
        [("exit 3", "failed (exit status: 3)"), ("sleep 300", "did not end within 1 s")]
    {
        let (reported, process) = left(end);
        assert!(reported.contains(reason), "{reported}");
        wait_until("it is ended", || !is_process(process));
    }
    let (reported, process) = left("true");
    assert!(
        reported.contains("it was not ready within 0.5 s") && is_process(process),
        "{reported}"
    );
    kill(process);
}

fn kill(process: u32) {
    let killed = std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.unwrap().success());
}
