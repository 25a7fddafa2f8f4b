//! Data that generators load.

use super::services::generators;
use crate::program::{Bench, events, signal};
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{RunningServer, running_server, wait_until};
use std::fs::File;
use std::process::{Child, Stdio};

const SBTEST: &str = "{ kind = \"oltp_point_select\", tables = 3, table_size = 25000 }";
const SBTEST_TABLES: [&str; 3] = ["sbtest1", "sbtest2", "sbtest3"];
const TPCC_TABLES: [&str; 9] = [
    "warehouse",
    "district",
    "customer",
    "history",
    "new_order",
    "orders",
    "order_line",
    "item",
    "stock",
];

/// The fields of an answer.
fn asked(server: &RunningServer, sql: &str) -> Vec<String> {
    let mut table = Table::default();
    block_on(async {
        let mut connection = Connection::connect(&server.target(), &Io::Blocking).await?;
        connection.query(sql, &mut table).await
    })
    .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table.0.into_iter().flatten().flatten().collect()
}

/// A run whose clients have nothing to do, so that the data stay as they were loaded.
struct Run<'a> {
    bench: Bench,
    server: &'a RunningServer,
    child: Child,
}

impl<'a> Run<'a> {
    fn begin(server: &'a RunningServer, workload: &str, clients: &str, generators: u32) -> Self {
        let bench = Bench::new();
        let target = server.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            panic!("{:?}", target.endpoint)
        };
        let Target { engine, user, database, password, .. } = &target;
        let url = format!("{engine}://{user}:{}@{host}:{port}/{database}", password.reveal());
        let divided = match generators {
            0 => String::new(),
            number => format!("generators = {number}\n"),
        };
        let spec = format!(
            "title = \"Loaded\"\nsystem = [{{ name = \"S\", url = \"{url}\" }}]\n\
             workload = {workload}\ndesign = {{ blocks = 1 }}\n[load]\nclients = {clients}\n\
             duration = \"100s\"\nwarmup = \"0s\"\nrate = \"1/h\"\n{divided}"
        );
        bench.file("spec.toml", spec);
        let child = bench
            .command(&["run", "spec.toml", "--out", "r"])
            .stdout(Stdio::null())
            .stderr(File::create(bench.path().join("stderr")).expect("it is ours"))
            .spawn()
            .expect("dyno can be started");
        Self { bench, server, child }
    }

    fn events(&self) -> Vec<Event> {
        events(&self.bench.path().join("r"))
    }

    /// Waits until a trial is in this phase; returns its name.
    fn reaches(&mut self, wanted: Phase) -> String {
        let mut name = None;
        wait_until("the phase begins", || {
            let ended = self.child.try_wait().expect("it is ours");
            let reported = || std::fs::read_to_string(self.bench.path().join("stderr"));
            assert!(ended.is_none(), "{ended:?}: {:?}", reported());
            name = self.events().into_iter().find_map(|event| match event {
                Event::PhaseStarted { trial, phase } if phase == wanted => Some(trial),
                _ => None,
            });
            name.is_some()
        });
        name.expect("it was found")
    }

    /// A checksum of each table, and the number of indexes, while a trial is measured.
    fn contents(&mut self, tables: &[&str]) -> Vec<String> {
        self.reaches(Phase::Measure);
        let is_postgres = self.server.target().engine.name() == "postgres";
        let checksum = |table: &&str| match is_postgres {
            true => format!(
                "SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) FROM \
                 {table} t"
            ),
            false => format!("CHECKSUM TABLE {table} EXTENDED"),
        };
        let indexes = match is_postgres {
            true => "SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'",
            false => {
                "SELECT count(*) FROM information_schema.statistics \
                 WHERE table_schema = database()"
            }
        };
        let all = tables.iter().map(checksum).chain([indexes.to_owned()]);
        all.flat_map(|sql| asked(self.server, &sql)).collect()
    }

    /// Interrupts it and waits for its end.
    fn end(mut self) {
        signal("-INT", self.child.id());
        self.child.wait().expect("it runs");
    }
}

#[test]
fn one_two_and_four_generators_load_the_data_of_this_process() {
    for kind in [ServerKind::Mariadb, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let loaded = |generators| {
            let mut run = Run::begin(&server, SBTEST, "8", generators);
            let contents = run.contents(&SBTEST_TABLES);
            run.end();
            contents
        };
        let alone = loaded(0);
        for generators in [1, 2, 4] {
            assert_eq!(loaded(generators), alone, "{generators} on {kind:?}");
        }
    }
}

#[test]
fn tables_of_very_different_sizes_are_loaded_alike() {
    let Some(server) = running_server(ServerKind::Postgres, &[]) else { return };
    let loaded = |generators| {
        let mut run = Run::begin(&server, "{ kind = \"tpcc\", warehouses = 1 }", "3", generators);
        let contents = run.contents(&TPCC_TABLES);
        run.end();
        contents
    };
    assert_eq!(loaded(3), loaded(0));
}

#[test]
fn after_a_generator_is_lost_in_loading_the_next_trial_reloads() {
    let Some(server) = running_server(ServerKind::Postgres, &[]) else { return };
    let workload = "{ kind = \"oltp_point_select\", tables = 2, table_size = 600000 }";
    let mut run = Run::begin(&server, workload, "[2, 4]", 2);
    let failing = run.reaches(Phase::Load);
    signal("-KILL", generators(&run.bench)[0]);
    run.reaches(Phase::Measure);
    let counted: Vec<String> = ["sbtest1", "sbtest2"]
        .iter()
        .flat_map(|it| asked(&server, &format!("SELECT count(*) FROM {it}")))
        .collect();
    assert_eq!(counted, ["600000", "600000"]);
    let events = run.events();
    let reason = events.iter().find_map(|event| match event {
        Event::TrialFailed { trial, reason, .. } if *trial == failing => Some(reason.to_string()),
        _ => None,
    });
    let reason = reason.expect("it failed");
    assert!(
        reason.starts_with("generator ")
            && reason.contains(" was lost: its process was killed (signal 9)"),
        "{reason}"
    );
    let began = |trial: &str, wanted| {
        events.iter().any(|event| {
            matches!(event, Event::PhaseStarted { trial: it, phase } if it == trial && *phase == wanted)
        })
    };
    assert!(!began(&failing, Phase::Connecting), "it was lost while it loaded");
    let next = run.reaches(Phase::Measure);
    assert!(next != failing && began(&next, Phase::Load), "nothing half-loaded is reused");
    run.end();
}
