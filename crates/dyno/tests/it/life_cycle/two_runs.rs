//! Two runs at the same time on one database, and what is left of one that was killed: no run takes
//! the tables of another for its own.

use crate::ends::{INTERRUPTED, PREFLIGHT_FAILED, SERVER_FAILED};
use crate::program::{Bench, Ended, events, records};
use crate::running::Running;
use crate::shop::ask;
use dyno_host::databases::are_there;
use dyno_model::audit::AuditVerdict;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{BlackholeProxy, Pooler, RunningServer, running_server, wait_until};

/// A database that runs already.
struct Host {
    bench: Bench,
    target: Target,
    url: String,
    server: Option<RunningServer>,
}

impl Host {
    fn open(kind: ServerKind) -> Option<Self> {
        let bench = Bench::new();
        if kind == ServerKind::Sqlite {
            let file = bench.path().join("shop.db");
            let target = Target::new(Engine::Sqlite, Endpoint::File(file.clone()));
            ask(&target, "PRAGMA user_version = 1");
            return Some(Self {
                bench,
                target,
                url: format!("sqlite:{}", file.display()),
                server: None,
            });
        }
        let server = running_server(kind, &[])?;
        let target = server.target();
        Some(Self { bench, url: url_of(&target), target, server: Some(server) })
    }

    /// The addresses under which other runs may reach the same database.
    fn urls(&self) -> Vec<String> {
        let nodes = self.server.iter().flat_map(RunningServer::nodes);
        let urls: Vec<String> = nodes.map(|node| url_of(&node.target())).collect();
        if urls.is_empty() { vec![self.url.clone()] } else { urls }
    }

    fn spec(url: &str, load: &str) -> String {
        format!(
            "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"{url}\"\n[workload]\nkind = \"rush\"\nrows = 100\n\
             variant = \"in-place\"\n[load]\nclients = 2\n{load}\n[design]\nblocks = 1\n"
        )
    }

    /// A run that ends when it is told to.
    fn endless(&self) -> Running<'_> {
        self.bench.file("endless.toml", Self::spec(&self.url, "duration = \"10m\""));
        let run = Running::start(&self.bench, "endless.toml");
        run.await_phase(Phase::Measure);
        run
    }

    fn short(&self, url: &str, out: &str) -> Ended {
        self.bench.file("short.toml", Self::spec(url, "transactions = 20"));
        self.bench.dyno(&["run", "short.toml", "--out", out])
    }
}

fn url_of(target: &Target) -> String {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("servers of tests listen to TCP")
    };
    url(target, host, *port)
}

fn url(target: &Target, host: &str, port: u16) -> String {
    let (engine, user, password) = (target.engine, &target.user, target.password.reveal());
    format!("{engine}://{user}:{password}@{host}:{port}/{}", target.database)
}

fn others_are_kept_out(kind: ServerKind) {
    let Some(host) = Host::open(kind) else { return };
    let run = host.endless();
    for url in host.urls() {
        for refused in [host.short(&url, "second"), host.bench.dyno(&["plan", "short.toml"])] {
            assert_eq!(refused.code, PREFLIGHT_FAILED, "{kind}: {refused}");
            let reported = format!("{}{}", refused.stdout, refused.stderr);
            assert!(
                reported.contains("another run of dyno uses the database"),
                "{kind}: {refused}"
            );
            let name = match kind {
                ServerKind::Sqlite => format!(": process {}\n", run.pid()),
                _ => "experiment \"endless\", since \"".to_owned(),
            };
            assert!(reported.contains(&name), "{kind}: the first run is named: {refused}");
        }
        let refused = host.bench.dyno(&["cleanup", "short.toml"]);
        assert_eq!(refused.code, SERVER_FAILED, "{kind}: {refused}");
        let reason = "another run of dyno uses the database";
        assert!(refused.stderr.contains(reason), "{kind}: {refused}");
    }
    run.interrupt();
    let ended = run.ended();
    assert_eq!(ended.code, INTERRUPTED, "{kind}: {ended}");
    let record = &records(&host.bench.path().join("r"))[0];
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{kind}: {ended}");
    assert_eq!(ask(&host.target, host.target.engine.dialect().user_tables), "", "{kind}: {ended}");

    // One that was killed lets go, and the next recognises what it left.
    std::fs::remove_dir_all(host.bench.path().join("r")).expect("results of ours");
    let run = host.endless();
    crate::program::signal("-KILL", run.pid());
    run.ended();
    let urls = host.urls();
    let ended = host.short(urls.last().expect("a server has a node"), "after");
    assert!(ended.is_done(), "{kind}: {ended}");
    assert_eq!(ask(&host.target, host.target.engine.dialect().user_tables), "", "{kind}: {ended}");
    let left: Vec<String> =
        host.bench.names().into_iter().filter(|name| name.contains("lock")).collect();
    assert_eq!(left, [""; 0], "{kind}");
}

#[test]
fn a_second_run_or_cleanup_is_refused_on_postgresql() {
    others_are_kept_out(ServerKind::Postgres);
}

#[test]
fn a_second_run_or_cleanup_is_refused_on_mariadb() {
    others_are_kept_out(ServerKind::Mariadb);
}

#[test]
fn a_second_run_or_cleanup_is_refused_on_mysql() {
    others_are_kept_out(ServerKind::Mysql);
}

#[test]
fn a_second_run_or_cleanup_is_refused_on_sqlite() {
    others_are_kept_out(ServerKind::Sqlite);
}

/// Each node has locks of its own; all have the marker.
#[test]
fn a_second_run_or_cleanup_via_any_node_is_refused_on_galera() {
    others_are_kept_out(ServerKind::Galera);
}

#[test]
fn a_second_run_or_cleanup_via_any_node_is_refused_on_ndb() {
    others_are_kept_out(ServerKind::Ndb);
}

/// Each may be refused because of the other's preflight, so it is possible that neither works.
fn of_two_at_the_same_moment_at_most_one_works(kind: ServerKind) {
    let Some(host) = Host::open(kind) else { return };
    let names = ["one", "two"];
    for (name, url) in names.into_iter().zip(host.urls().iter().cycle()) {
        host.bench.file(&format!("{name}.toml"), Host::spec(url, "duration = \"10m\""));
    }
    for round in ["a", "b", "c"] {
        let results = names.map(|name| format!("{round}-{name}"));
        let begin = |at: usize| {
            let spec = format!("{}.toml", names[at]);
            Running::of(&host.bench, host.bench.command(&["run", &spec, "--out", &results[at]]))
        };
        let mut runs = [0, 1].map(begin);
        wait_until("one is refused", || runs.iter_mut().any(Running::is_over));
        let is_measured = |event: Event| matches!(event, Event::PhaseStarted { phase, .. } if phase == Phase::Measure);
        wait_until("the other works or is refused", || {
            runs.iter_mut().zip(&results).all(|(run, results)| {
                let results = host.bench.path().join(results);
                run.is_over() || events(&results).into_iter().any(is_measured)
            })
        });
        let mut working = 0;
        for (mut run, results) in runs.into_iter().zip(&results) {
            if run.is_over() {
                let refused = run.ended();
                let is_refused = [PREFLIGHT_FAILED, SERVER_FAILED].contains(&refused.code)
                    && refused.stderr.contains("another run of dyno");
                assert!(is_refused, "{kind}: {refused}");
                continue;
            }
            working += 1;
            run.interrupt();
            let ended = run.ended();
            assert_eq!(ended.code, INTERRUPTED, "{kind}: {ended}");
            let record = &records(&host.bench.path().join(results))[0];
            // On a busy machine the interrupt may cut off transactions, whose outcome is unknown.
            assert_ne!(record.audit.verdict(), AuditVerdict::Violated, "{kind}: {ended}");
        }
        assert!(working <= 1, "{kind}");
    }
}

#[test]
fn at_most_one_of_two_simultaneous_runs_works_on_sqlite() {
    of_two_at_the_same_moment_at_most_one_works(ServerKind::Sqlite);
}

#[test]
fn at_most_one_of_two_simultaneous_runs_works_on_postgresql() {
    of_two_at_the_same_moment_at_most_one_works(ServerKind::Postgres);
}

#[test]
fn at_most_one_of_two_simultaneous_runs_works_on_galera() {
    of_two_at_the_same_moment_at_most_one_works(ServerKind::Galera);
}

/// The lock's session is ended and another run's name is put into the marker, as one would that
/// sees no lock of another node.
#[test]
fn a_run_whose_database_was_claimed_by_another_has_no_figures() {
    for kind in [ServerKind::Postgres, ServerKind::Mariadb] {
        let Some(host) = Host::open(kind) else { continue };
        host.bench.file("long.toml", Host::spec(&host.url, "duration = \"3s\""));
        let run = Running::start(&host.bench, "long.toml");
        run.await_phase(Phase::Measure);
        ask(&host.target, "UPDATE dyno_marker SET run = 'another' WHERE table_name = ''");
        let ended = run.ended();
        assert!(
            ended.stderr.contains("another run of dyno claimed the database"),
            "{kind}: {ended}"
        );
        assert_eq!(records(&host.bench.path().join("r")).len(), 0, "{kind}: {ended}");
    }
}

/// Killed between CREATE DATABASE and the marker.
#[test]
fn cleanup_finds_a_database_of_a_killed_run_without_a_marker() {
    for kind in [ServerKind::Postgres, ServerKind::Mariadb, ServerKind::Mysql] {
        let Some(host) = Host::open(kind) else { continue };
        let Endpoint::Tcp { host: name, port } = &host.target.endpoint else {
            panic!("it listens to TCP")
        };
        let silencer = BlackholeProxy::new(name, *port);
        // The lock comes before the marker.
        silencer.listen_for(if kind == ServerKind::Postgres {
            "try_advisory_lock"
        } else {
            "GET_LOCK"
        });
        let address = silencer.address();
        let url = url(&host.target, &address.ip().to_string(), address.port());
        host.bench.file(
            "two.toml",
            format!(
                "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"{url}\"\n[workload]\nkind = \"rush\"\nrows = 10\n\
                 [load]\nclients = 2\ntransactions = 4\ndatabases = [\"dyno_n\", \"dyno_s\"]\n[design]\nblocks = 1\n"
            ),
        );
        let names = ["dyno_n".to_owned(), "dyno_s".to_owned()];
        let run = Running::start(&host.bench, "two.toml");
        wait_until("the first database is to be locked", || silencer.is_silent());
        crate::program::signal("-KILL", run.pid());
        run.ended();
        silencer.speak();
        assert_eq!(are_there(&host.target, &names).expect("it answers"), [true, false], "{kind}");
        let cleaned = host.bench.dyno(&["cleanup", "two.toml"]);
        assert_eq!(cleaned.code, 0, "{kind}: {cleaned}");
        assert_eq!(
            are_there(&host.target, &names).expect("it answers"),
            [false, false],
            "{kind}: {cleaned}"
        );
    }
}

/// A session's lock would stay with whoever is given the server's session next, so there it is a
/// transaction's.
#[test]
fn behind_a_pooler_a_run_keeps_others_out_and_cleanup_too() {
    let Some(mut host) = Host::open(ServerKind::Postgres) else { return };
    let Endpoint::Tcp { host: name, port } = &host.target.endpoint else {
        panic!("it listens to TCP")
    };
    let pooler = Pooler::new(name, *port);
    let address = pooler.address();
    let pooled = url(&host.target, &address.ip().to_string(), address.port());
    host.bench.file("direct.toml", Host::spec(&host.url, "transactions = 20"));
    host.url = pooled;
    let run = host.endless();
    let locks = "SELECT string_agg(a.state, ' ') FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory'";
    assert_eq!(ask(&host.target, locks), "idle in transaction");
    let through = host.short(&host.url, "second");
    assert_eq!(through.code, PREFLIGHT_FAILED, "{through}");
    let refused = host.bench.dyno(&["run", "direct.toml", "--out", "third"]);
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    assert!(refused.stderr.contains("another run of dyno uses the database"), "{refused}");
    let refused = host.bench.dyno(&["cleanup", "direct.toml"]);
    assert_eq!(refused.code, SERVER_FAILED, "{refused}");
    run.interrupt();
    assert_eq!(run.ended().code, INTERRUPTED);
    assert_eq!(ask(&host.target, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0");
}
