//! Commands that run on this machine stand for those that run on another.

use super::*;
use std::sync::mpsc::RecvTimeoutError;

fn command(command: &str) -> RemoteCommand {
    RemoteCommand { command: command.to_owned(), ..RemoteCommand::default() }
}

fn traces_of_this_process() -> Vec<String> {
    vec![format!("file:{}", pid_file())]
}

/// A file with this process's number, left to the system's temporary folder for as long as the
/// tests run.
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
fn a_shell_elsewhere_tells_what_this_machine_tells_here() {
    let mut remote =
        Remote::start(&command("echo Welcome; exec sh"), traces_of_this_process(), false).unwrap();
    let mut near = Values::default();
    Machine::new().sample(&mut near);
    // Devices that work for the first time in between have their figures only in the later look.
    let far = values(&mut remote, true);
    // The same figures of the same machine, so the same names; those of devices too.
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
fn what_the_command_said_is_told_when_it_fails() {
    let refused =
        Remote::start(&command("echo Permission denied >&2; exit 255"), Vec::new(), false);
    let told = refused.unwrap_err();
    assert!(told.contains("255") && told.contains("Permission denied"), "{told}");
    // One that dies later.
    let mut remote = Remote::start(&command("sh"), Vec::new(), false).unwrap();
    let group = Pid::from_raw(i32::try_from(remote.child.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    let mut values = Values::default();
    let told = loop {
        // An order may still be written into the pipe.
        match remote
            .ask(false)
            .and_then(|()| remote.sample(Instant::now() + BEGIN_LIMIT, &mut values))
        {
            Ok(()) => {}
            Err(told) => break told,
        }
    };
    assert!(told.contains("ended") && told.contains("9"), "{told}");
}

#[test]
fn a_command_that_is_no_shell_or_never_ends_is_ended() {
    let mut remote = Remote::start(&command("sh; exec sleep 1000"), Vec::new(), false).unwrap();
    let status = remote.end().unwrap();
    assert!(!status.success(), "it was killed: {status}");
    // Its output is closed with it, which the thread that reads it may notice later than we do.
    assert!(matches!(
        remote.answers.recv_timeout(BEGIN_LIMIT),
        Err(RecvTimeoutError::Disconnected)
    ));
}

#[test]
fn a_command_that_floods_is_ended() {
    for flood in [
        "cat /dev/zero",
        "yes '==> x <=='",
        "awk 'BEGIN { for (;;) print \"==> \" i++ \" <==\" }'",
        "yes",
    ] {
        // It writes until it is told to end, and does not read what it is told.
        let told = Remote::start(&command(flood), Vec::new(), false).unwrap_err();
        assert!(told.starts_with("printed more than an answer can hold"), "{flood}: {told}");
    }
}

#[test]
fn what_a_command_starts_and_leaves_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("left");
    let text = format!("sleep 1000 & echo $! > {}; sh", left.display());
    let mut remote = Remote::start(&command(&text), Vec::new(), false).unwrap();
    let number: u32 = std::fs::read_to_string(&left).unwrap().trim().parse().unwrap();
    assert!(ProcessStat::of(number).is_some_and(|stat| !stat.is_zombie));
    assert!(remote.end().unwrap().success());
    // Its parent is gone, so that somebody else reaps it.
    while ProcessStat::of(number).is_some_and(|stat| !stat.is_zombie) {
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_stops_answering_is_given_up() {
    let mut remote = Remote::start(&command("sh"), Vec::new(), false).unwrap();
    let group = Pid::from_raw(i32::try_from(remote.child.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::STOP).unwrap();
    let mut values = Values::default();
    for _ in 0..UNANSWERED_MAX {
        remote.ask(false).unwrap();
        remote.sample(Instant::now(), &mut values).unwrap();
    }
    let told = remote.ask(false).unwrap_err();
    assert!(told.contains("60 looks without an answer") && told.contains("signal: 9"), "{told}");
    assert_eq!(values, Values::default());
}

#[test]
fn variables_with_passwords_stay_here() {
    // A variable that every account has stands for one with a password.
    let mut command = command("printenv HOME > /dev/null && echo shown >&2; exit 1");
    assert!(Remote::start(&command, Vec::new(), false).unwrap_err().contains("shown"));
    command.hidden.push("HOME".to_owned());
    let told = Remote::start(&command, Vec::new(), false).unwrap_err();
    assert!(told.contains("ended") && !told.contains("shown"), "{told}");
}
