//! Commands of the user, and the processes that they leave running.

use dyno_host::shell;
use dyno_testkit::{is_process, supervisor_command, wait_until};
use std::time::Duration;

#[test]
fn processes_left_by_a_command_are_killed_unless_they_are_meant_to_stay_and_it_succeeded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let left = |end: &str, leaves_running: bool| {
        // In a session of its own, like servers.
        let command = format!("setsid sleep 300 & echo $! > '{}'\n{end}", file.display());
        let limit = Duration::from_secs(60);
        let ended =
            shell::run("it", &command, Vec::new(), limit, leaves_running, &supervisor_command());
        (ended.is_ok(), std::fs::read_to_string(&file).unwrap().trim().parse::<u32>().unwrap())
    };
    for (end, leaves_running) in [("true", false), ("exit 3", true)] {
        let (is_ok, process) = left(end, leaves_running);
        assert_eq!(is_ok, end == "true");
        wait_until("it is ended", || !is_process(process));
    }
    let (is_ok, process) = left("true", true);
    assert!(is_ok && is_process(process));
    let killed = std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.unwrap().success());
}
