//! Runs are monitored: what machine and server did stands beside what was measured, and a stall is explained.

use crate::program::Bench;
use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_model::event::Event;
use dyno_model::finding::Finding;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{running_server, wait_until};
use std::process::Stdio;
use std::time::Duration;

/// Environment variable that hands the server's password to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";

/// Looks of a trial so far.
fn looks(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path().join("r/trials/b01-001/monitor.csv"))
        .map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Nobody can update the table for three seconds.
fn stall(target: &Target) {
    let statements: &[&str] = match target.engine {
        Engine::Mysql => &["LOCK TABLES sbtest1 WRITE", "SELECT SLEEP(3)", "UNLOCK TABLES"],
        _ => &["BEGIN", "LOCK TABLE sbtest1 IN ACCESS EXCLUSIVE MODE", "SELECT pg_sleep(3)", "COMMIT"],
    };
    let mut connection = block_on(Connection::connect(target, &Io::Blocking)).expect("a connection");
    for statement in statements {
        block_on(connection.query(statement, &mut Discard)).unwrap_or_else(|failure| panic!("{failure}"));
    }
    block_on(connection.close());
}

#[test]
fn a_stall_is_found_and_told_in_the_servers_words() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else { panic!("managed servers listen on TCP") };
        let bench = Bench::new();
        let spec = format!(
            "title = \"Stall\"\n[[system]]\nname = \"running\"\nurl = \"{}://{}@{host}:{port}/{}\"\n\
             password_env = \"{PASSWORD}\"\n[workload]\nkind = \"oltp_update_index\"\ntables = 1\ntable_size = 1000\n\
             [load]\nclients = 8\nduration = \"10s\"\nwarmup = \"1s\"\n[design]\nblocks = 1\n",
            target.engine, target.user, target.database
        );
        bench.file("stall.toml", spec);
        let mut command = bench.command(&["run", "stall.toml", "--quiet", "--out", "r"]);
        let run = command
            .env(PASSWORD, target.password.reveal())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("dyno can be started");
        // One look before the clients begin, one as they do, then one a second.
        wait_until("the trial is under way", Duration::from_secs(60), || looks(&bench) >= 6);
        stall(&target);
        let ended = crate::program::Ended::from(run.wait_with_output().expect("dyno ends"));
        assert_eq!(ended.code, 0, "{kind}: {ended}");
        let events = std::fs::read_to_string(bench.path().join("r/events.jsonl")).expect("the event log");
        let record = events.lines().find_map(|line| match serde_json::from_str(line).expect("an event") {
            Event::TrialFinished(record) => Some(record),
            _ => None,
        });
        let record = record.expect("the trial has figures");
        let collapse = record.findings.iter().find_map(|finding| match finding {
            Finding::Collapse { seconds, sessions, .. } => Some((*seconds, sessions)),
            _ => None,
        });
        let (seconds, sessions) = collapse.unwrap_or_else(|| panic!("{kind}: {:?}", record.findings));
        assert!((1.0..5.0).contains(&seconds), "{kind}: {seconds}");
        let blocked = sessions.iter().filter(|group| {
            group.wait.to_lowercase().contains("lock") && group.statement.starts_with("UPDATE sbtest1 SET k")
        });
        assert!(blocked.map(|group| group.sessions).sum::<u32>() >= 6, "{kind}: {sessions:?}");
        assert!(ended.stdout.replace("\n  ", " ").contains("stayed below a tenth of the usual"), "{ended}");
    }
}

#[test]
fn an_embedded_database_is_monitored_as_part_of_the_generator() {
    let bench = Bench::new();
    let spec = "title = \"Short\"\nsystem = [{ name = \"SQLite\", server = { kind = \"sqlite\" } }]\n\
                workload = { kind = \"rush\", variant = \"in-place\" }\n\
                load = { clients = 1, duration = \"2s\", warmup = \"0s\" }\ndesign = { blocks = 1 }\n";
    bench.file("short.toml", spec);
    let ended = bench.dyno(&["run", "short.toml", "--quiet", "--out", "r", "--json"]);
    assert_eq!(ended.code, 0, "{ended}");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let row = &report["resources"][0];
    let figure = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    assert!(figure("generator_cpu_per_transaction_us") > 0.0);
    assert!(figure("generator_processors") > 0.0 && figure("generator_processors") < 2.0);
    assert!(row["server_processors"].is_null());
    assert!(looks(&bench) >= 3);
    assert_eq!(report["timelines"][0]["resources"].as_array().expect("a list").len(), 2);
}
