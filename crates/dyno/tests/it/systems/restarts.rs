//! A server that dyno did not start is restarted in the middle of a trial, and the trial says so.

use crate::program::{Bench, records, signal};
use crate::running::Running;
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::RunningServer;
use dyno_model::event::Phase;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::warning::Warning;
use dyno_testkit::{is_process, running_server, wait_until};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Environment variable that hands the server's password to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";

/// Seconds that a server has to be up before a restart shows in its uptime for certain: readings
/// are in whole seconds, and judged with room for that.
const UP_MIN: u64 = 6;

/// How a server is asked to end.
fn polite(kind: ServerKind) -> &'static str {
    if kind == ServerKind::Postgres { "-INT" } else { "-TERM" }
}

/// Ends the server's process and starts the same program on the same data, as the same user and at
/// the same address.
fn restart(server: &RunningServer) -> Child {
    let pid = server.pid().expect("it is a process");
    let of = |file: &str| format!("/proc/{pid}/{file}");
    let user = std::fs::metadata(of("")).expect("it runs");
    let program = std::fs::read_link(of("exe")).expect("it runs");
    let folder = std::fs::read_link(of("cwd")).expect("it runs");
    let line = String::from_utf8(std::fs::read(of("cmdline")).expect("it runs")).expect("text");
    // What made the account is gone, as it has to be.
    let arguments = line.trim_end_matches('\0').split('\0').skip(1);
    let arguments: Vec<&str> =
        arguments.filter(|argument| !argument.starts_with("--init-file=")).collect();
    signal(polite(server.kind), pid);
    wait_until("the server ends", || !is_process(pid));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).uid(user.uid()).gid(user.gid());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("it can be started again");
    wait_until("the server answers again", || uptime(&server.target()).is_some());
    child
}

/// Seconds that the server has been up; `None` when it does not answer.
fn uptime(target: &Target) -> Option<u64> {
    let mut answer = Table::default();
    let asked = block_on(async {
        let mut connection = Connection::connect(target, &Io::Blocking).await?;
        let sql = match target.engine {
            Engine::Mysql => {
                "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'UPTIME'"
            }
            _ => "SELECT floor(extract(epoch FROM now() - pg_postmaster_start_time()))::bigint",
        };
        connection.query(sql, &mut answer).await
    });
    asked.ok()?;
    answer.first()?.parse().ok()
}

#[test]
fn a_server_that_is_started_anew_in_the_middle_of_a_trial_is_named() {
    for kind in [ServerKind::Mariadb, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            panic!("servers of tests listen to TCP")
        };
        let Target { engine, user, database, .. } = &target;
        let bench = Bench::new();
        bench.file(
            "theirs.toml",
            format!(
                "title = \"Theirs\"\n[[system]]\nname = \"S\"\nurl = \"{engine}://{user}@{host}:{port}/{database}\"\n\
                 password_env = \"{PASSWORD}\"\n[workload]\nkind = \"rush\"\nvariant = \"in-place\"\nrows = 100\n\
                 [load]\nclients = 2\nwarmup = \"0s\"\nduration = \"3s\"\n[design]\nblocks = 1\n"
            ),
        );
        wait_until("the server has been up for a while", || {
            uptime(&target).is_some_and(|up| up >= UP_MIN)
        });
        let mut command = bench.command(&["run", "theirs.toml", "--out", "r"]);
        command.env(PASSWORD, target.password.reveal());
        let running = Running::of(&bench, command);
        running.await_phase(Phase::Measure);
        // The generator does not see how long it takes: its clients are to find a server that is
        // there again.
        signal("-STOP", running.pid());
        let mut again = restart(&server);
        signal("-CONT", running.pid());
        let ended = running.ended();
        signal(polite(kind), again.id());
        again.wait().expect("it is our child");
        let record =
            records(&bench.path().join("r")).pop().unwrap_or_else(|| panic!("{kind}: {ended}"));
        let is_named = |warning: &Warning| matches!(warning, Warning::ServerRestarted { .. });
        assert!(record.warnings.iter().any(is_named), "{kind}: {:?}, {ended}", record.warnings);
        assert!(ended.stdout.contains("The server restarted during the trial"), "{kind}: {ended}");
    }
}
