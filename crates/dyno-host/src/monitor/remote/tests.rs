//! Tests in which local commands take the place of those on another machine.

use super::*;
use std::sync::mpsc::RecvTimeoutError;

fn command(command: &str) -> RemoteCommand {
    RemoteCommand { command: command.to_owned(), ..RemoteCommand::default() }
}

fn traces_of_this_process() -> Vec<String> {
    vec![format!("file:{}", pid_file())]
}

/// A file with this process's id, in the system's temporary folder while the tests run.
fn pid_file() -> String {
    let path = std::env::temp_dir().join(format!("dyno-test-{}.pid", std::process::id()));
    std::fs::write(&path, format!("{}\n", std::process::id())).unwrap();
    path.to_str().unwrap().to_owned()
}

fn values(remote: &mut Remote, is_boundary: bool) -> Values {
    remote.ask(is_boundary).unwrap();
    let mut values = Values::default();
    remote.sample(Instant::now() + BEGIN_LIMIT, &mut values).unwrap();
    values
}

#[test]
fn a_remote_shell_returns_the_values_of_the_machine() {
    let mut remote =
        Remote::start(&command("echo Welcome; exec sh"), traces_of_this_process(), false).unwrap();
    let mut near = Values::default();
    Machine::new().sample(&mut near);
    // Devices that are first used in between appear only in the later sample.
    let far = values(&mut remote, true);
    // The same machine has the same value names, including those of devices.
    let of_host = |values: &Values| values.names().map(str::to_owned).collect::<Vec<_>>();
    let missing: Vec<String> =
        of_host(&near).into_iter().filter(|name| far.get(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(far.get(names::HOST_PROCESSORS), near.get(names::HOST_PROCESSORS));
    let total = "host.memory.total_bytes";
    assert_eq!(far.get(total), near.get(total));
    let user = "host.cpu.user_seconds_total";
    assert!(far.get(user).unwrap() >= near.get(user).unwrap());
    assert!(far.get("server.process.resident_bytes").unwrap() > 1e5, "{far:?}");
    assert!(
        far.get(names::SERVER_CPU_USER).is_some() && far.get(names::SERVER_THREADS).unwrap() >= 1.0
    );
    assert!(
        far.get(names::MONITOR_COMMAND_CPU).is_some() && far.get(names::COMMAND_ANSWER).is_some()
    );
    let again = values(&mut remote, false);
    assert!(again.get(user).unwrap() >= far.get(user).unwrap());
}

#[test]
fn the_output_of_a_failed_command_is_reported() {
    let refused =
        Remote::start(&command("echo Permission denied >&2; exit 255"), Vec::new(), false);
    let reported = refused.unwrap_err();
    assert!(reported.contains("255") && reported.contains("Permission denied"), "{reported}");
    // One that ends later.
    let mut remote = Remote::start(&command("sh"), Vec::new(), false).unwrap();
    let group = Pid::from_raw(i32::try_from(remote.child.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    let mut values = Values::default();
    let reported = loop {
        // The request may still be written to the pipe.
        match remote
            .ask(false)
            .and_then(|()| remote.sample(Instant::now() + BEGIN_LIMIT, &mut values))
        {
            Ok(()) => {}
            Err(reported) => break reported,
        }
    };
    assert!(reported.contains("ended") && reported.contains("9"), "{reported}");
}

#[test]
fn a_command_that_is_not_a_shell_or_never_ends_is_stopped() {
    let mut remote = Remote::start(&command("sh; exec sleep 1000"), Vec::new(), false).unwrap();
    let status = remote.end().unwrap();
    assert!(!status.success(), "it was killed: {status}");
    // Its output is closed with it, but the reading thread may notice it later.
    assert!(matches!(
        remote.answers.recv_timeout(BEGIN_LIMIT),
        Err(RecvTimeoutError::Disconnected)
    ));
}

#[test]
fn a_command_with_endless_output_is_stopped() {
    for flood in [
        "cat /dev/zero",
        "yes '==> x <=='",
        "awk 'BEGIN { for (;;) print \"==> \" i++ \" <==\" }'",
        "yes",
    ] {
        // It writes until it is stopped, and does not read its input.
        let reported = Remote::start(&command(flood), Vec::new(), false).unwrap_err();
        assert!(
            reported.starts_with("printed more than 16 MiB in one answer"),
            "{flood}: {reported}"
        );
    }
}

#[test]
fn processes_left_by_a_command_are_killed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("left");
    let text = format!("sleep 1000 & echo $! > {}; sh", left.display());
    let mut remote = Remote::start(&command(&text), Vec::new(), false).unwrap();
    let number: u32 = std::fs::read_to_string(&left).unwrap().trim().parse().unwrap();
    assert!(ProcessStat::of(number).is_some_and(|stat| !stat.is_zombie));
    assert!(remote.end().unwrap().success());
    // Its parent is gone, so another process reaps it.
    while ProcessStat::of(number).is_some_and(|stat| !stat.is_zombie) {
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_stops_answering_is_stopped() {
    let mut remote = Remote::start(&command("sh"), Vec::new(), false).unwrap();
    let group = Pid::from_raw(i32::try_from(remote.child.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::STOP).unwrap();
    let mut values = Values::default();
    for _ in 0..UNANSWERED_MAX {
        remote.ask(false).unwrap();
        remote.sample(Instant::now(), &mut values).unwrap();
    }
    let reported = remote.ask(false).unwrap_err();
    assert!(
        reported.contains("60 samples without an answer") && reported.contains("signal: 9"),
        "{reported}"
    );
    assert_eq!(values, Values::default());
}

#[test]
fn variables_with_passwords_are_not_passed_on() {
    // A variable that every account has takes the place of one with a password.
    let mut command = command("printenv HOME > /dev/null && echo shown >&2; exit 1");
    assert!(Remote::start(&command, Vec::new(), false).unwrap_err().contains("shown"));
    command.hidden.push("HOME".to_owned());
    let reported = Remote::start(&command, Vec::new(), false).unwrap_err();
    assert!(reported.contains("ended") && !reported.contains("shown"), "{reported}");
}
