//! The monitor's values of real servers change with the load.

use crate::{PROCESSES, ask, connect, open_folder, open_folder_in, running};
use dyno_drivers::{Discard, Driver, block_on};
use dyno_host::monitor::{Watch, Watched, find_server};
use dyno_host::server::RunningServer;
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::monitor::{MonitorSample, SessionGroup, names};
use dyno_model::plan::ServerKind;
use dyno_model::units::Nanos;
use dyno_testkit::wait_until;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Keeps samples.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<MonitorSample>>>);

impl Listener for Kept {
    fn sample(&mut self, sample: &MonitorSample) {
        self.0.borrow_mut().push(sample.clone());
    }
}

impl Kept {
    fn samples(&self) -> Vec<MonitorSample> {
        self.0.borrow().clone()
    }

    /// The samples with all of these values: a sample has none of a slow server, and expensive
    /// values are not in every sample.
    fn looks_at(&self, names: &[&str]) -> Vec<MonitorSample> {
        let has_all =
            |sample: &MonitorSample| names.iter().all(|name| sample.values.contains_key(*name));
        self.0.borrow().iter().filter(|sample| has_all(sample)).cloned().collect()
    }
}

fn watched(server: &RunningServer) -> Watched {
    Watched {
        target: server.target(),
        pids: server.pid().into_iter().collect(),
        is_local: true,
        command: None,
        databases: Vec::new(),
    }
}

/// An event that a trial repeats.
fn progress() -> Event {
    let (trial, unit) = ("b01-001".into(), ProgressUnit::Nanoseconds);
    Event::Progress { trial, phase: Phase::Measure, done: 1, total: 1000, unit }
}

/// Sends progress to the monitor, as a trial does, until it has sampled all of these values after
/// now.
fn await_look(
    watch: &mut Watch<'_>,
    trigger: &dyno_host::monitor::Trigger,
    kept: &Kept,
    names: &[&str],
    sessions: Option<f64>,
) -> MonitorSample {
    let before = kept.looks_at(names).len();
    let mut looked = before;
    trigger.fire();
    let mut last = MonitorSample::default();
    wait_until("the monitor looks", || {
        watch.event(&progress());
        let looks = kept.looks_at(names);
        if looks.len() > looked {
            looked = looks.len();
            trigger.fire();
        }
        last = looks.into_iter().next_back().unwrap_or_default();
        // The first may have begun before, and the second has the answer to the first one's query
        // if that was late.
        looked >= before + 3 && last.values.get(names::SESSIONS).copied() == sessions
    });
    last
}

/// The last samples before and after some work that have all of these values, and as many sessions
/// besides the monitor's: others have ended by then, and their counts are in the server's.
fn around(
    server: &RunningServer,
    names: &[&str],
    sessions: Option<f64>,
    work: impl FnOnce(),
) -> (MonitorSample, MonitorSample) {
    let kept = Kept::default();
    let mut listener = kept.clone();
    let mut watch = Watch::begin("b01-001", Duration::ZERO, watched(server), &mut listener);
    watch.clients_begin(Nanos(0));
    let trigger = watch.trigger();
    let before = await_look(&mut watch, &trigger, &kept, names, sessions);
    work();
    (before, await_look(&mut watch, &trigger, &kept, names, sessions))
}

fn growth(before: &MonitorSample, after: &MonitorSample, name: &str) -> f64 {
    let value = |sample: &MonitorSample| {
        *sample.values.get(name).unwrap_or_else(|| panic!("{name}: {:?}", sample.values))
    };
    value(after) - value(before)
}

#[test]
fn the_mysql_family_counts_the_load_and_not_the_monitor() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql] {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE t (id INTEGER PRIMARY KEY, c CHAR(200)) ENGINE=InnoDB");
        let mut connection = connect(&target);
        let values = ["server.status.Com_insert_total", names::MONITOR_SERVER_CPU];
        let (before, after) = around(&server, &values, Some(1.0), || {
            for i in 0..50 {
                let sql = format!("INSERT INTO t VALUES ({i}, 'x')");
                block_on(connection.query(&sql, &mut Discard)).unwrap();
            }
            block_on(connection.query("SELECT count(*) FROM t", &mut Discard)).unwrap();
        });
        let grown = |name: &str| growth(&before, &after, &format!("server.status.{name}_total"));
        assert_eq!(grown("Com_insert"), 50.0, "{kind}");
        assert_eq!(grown("Com_select"), 1.0, "{kind}: the monitor's own are taken off");
        assert_eq!(grown("Questions"), 51.0, "{kind}");
        // Each server has only one of these counters.
        let rows = if kind == ServerKind::Mysql { "Innodb_rows_inserted" } else { "Handler_write" };
        assert_eq!(grown(rows), 50.0, "{kind}");
        assert!(grown("Innodb_os_log_written") > 0.0, "{kind}");
        assert_eq!(
            after.values["server.status.Threads_connected"], 1.0,
            "{kind}: without the monitor's"
        );
        assert!(after.values["server.status.Innodb_history_list_length"] >= 0.0);
        assert_eq!(after.values[names::SESSIONS], 1.0);
        assert!(
            growth(&before, &after, names::MONITOR_SERVER_CPU) > 0.0,
            "{kind}: its thread was found"
        );
    }
}

#[test]
fn postgres_counts_the_load_and_not_the_monitor() {
    let scratch = open_folder();
    // Rows written by autovacuum would count too.
    let Some(server) = running(ServerKind::Postgres, scratch.path(), &[("autovacuum", "off")])
    else {
        return;
    };
    let target = server.target();
    ask(&target, "CREATE TABLE t (id INTEGER)");
    let mut connection = connect(&target);
    let values = ["server.pg_stat_database.tup_inserted_total", names::MONITOR_SERVER_CPU];
    let (before, after) = around(&server, &values, Some(1.0), || {
        for i in 0..50 {
            block_on(connection.query(&format!("INSERT INTO t VALUES ({i})"), &mut Discard))
                .unwrap();
        }
        let flush = block_on(connection.query("SELECT pg_stat_force_next_flush()", &mut Discard));
        if flush.is_err() {
            // Before version 15 a session reports at most every half second.
            block_on(connection.query("SELECT pg_sleep(0.6)", &mut Discard)).unwrap();
        }
        block_on(connection.query("SELECT 1", &mut Discard)).unwrap();
    });
    assert_eq!(growth(&before, &after, "server.pg_stat_database.tup_inserted_total"), 50.0);
    assert!(growth(&before, &after, "server.pg_stat_database.xact_commit_total") <= 53.0);
    assert!(growth(&before, &after, "server.pg_stat_wal.wal_records_total") >= 50.0);
    assert_eq!(after.values[names::SESSIONS], 1.0);
    assert!(growth(&before, &after, names::MONITOR_SERVER_CPU) > 0.0);
}

#[test]
fn the_samples_of_a_servers_process_have_cpu_time_writes_and_memory() {
    for kind in PROCESSES {
        // The kernel counts only what is written to a disk; temporary files may be in memory.
        let scratch = open_folder_in(Path::new("/var/tmp"));
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE t (id INTEGER)");
        let rows = (0..1000).map(|i| format!("({i})")).collect::<Vec<_>>().join(",");
        let values = [names::SERVER_VOLUNTARY, names::SERVER_WRITTEN, names::SERVER_THREADS];
        let (before, after) = around(&server, &values, Some(0.0), || {
            for _ in 0..40 {
                ask(&target, &format!("INSERT INTO t VALUES {rows}"));
                ask(
                    &target,
                    "SELECT count(*) FROM (SELECT id FROM t LIMIT 300) AS a, (SELECT id FROM t LIMIT 300) AS b",
                );
            }
        });
        let grown = |name: &str| growth(&before, &after, name);
        assert!(grown(names::SERVER_CPU_USER) + grown(names::SERVER_CPU_SYSTEM) > 0.02, "{kind}");
        assert!(
            grown(names::SERVER_WRITTEN) > 0.0,
            "{kind}: sessions that have ended are in the sum"
        );
        assert!(grown(names::SERVER_VOLUNTARY) > 0.0, "{kind}");
        assert!(after.values[names::SERVER_RESIDENT] > 5e6, "{kind}");
        assert!(after.values[names::SERVER_THREADS] >= 2.0, "{kind}");
        assert!(grown("host.cpu.user_seconds_total") > 0.0);
        assert_eq!(
            find_server(&target),
            server.pid(),
            "{kind}: the server is found without being told"
        );
    }
}

#[test]
fn waits_of_sessions_are_sampled_when_nothing_commits() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE t (id INTEGER PRIMARY KEY, c INTEGER)");
        ask(&target, "INSERT INTO t VALUES (1, 1)");
        let mut holder = connect(&target);
        block_on(holder.query("BEGIN", &mut Discard)).unwrap();
        block_on(holder.query("UPDATE t SET c = 4711 WHERE id = 1", &mut Discard)).unwrap();
        let waiter = {
            let target = target.clone();
            std::thread::spawn(move || ask(&target, "UPDATE t SET c = 4712 WHERE id = 1"))
        };
        let kept = Kept::default();
        let mut listener = kept.clone();
        let mut watch = Watch::begin("b01-001", Duration::ZERO, watched(&server), &mut listener);
        let waiting = |group: &SessionGroup| {
            matches!(group.wait.as_str(), "InnoDB row lock" | "Lock:transactionid")
                && group.statement == "UPDATE t SET c = ? WHERE id = ?"
        };
        watch.clients_begin(Nanos(0));
        watch.commits_stopped(Some(Nanos(0)));
        wait_until("the wait is seen", || {
            watch.event(&progress());
            kept.samples().iter().any(|sample| sample.sessions.iter().any(waiting))
        });
        block_on(holder.query("COMMIT", &mut Discard)).unwrap();
        waiter.join().unwrap();
        let literals =
            kept.samples().iter().any(|s| s.sessions.iter().any(|g| g.statement.contains("471")));
        assert!(!literals, "{kind}: literals are left out");
    }
}

#[test]
fn file_sizes_of_sqlite_are_sampled() {
    let scratch = open_folder();
    let server = running(ServerKind::Sqlite, scratch.path(), &[]).unwrap();
    let target = server.target();
    let values = ["server.sqlite.database_bytes", "server.sqlite.wal_bytes"];
    let (before, after) = around(&server, &values, None, || {
        ask(&target, "CREATE TABLE t (x TEXT)");
        ask(&target, "INSERT INTO t VALUES (hex(randomblob(500000)))");
    });
    let size = |sample: &MonitorSample| {
        let of = |file: &str| sample.values[&format!("server.sqlite.{file}_bytes")];
        of("database") + of("wal")
    };
    assert!(size(&after) > size(&before) + 500_000.0);
    assert!(!after.values.contains_key(names::SERVER_CPU_USER), "its work is the generator's");
    assert!(after.values.contains_key(names::GENERATOR_CPU_USER));
}
