//! Systems that are several servers: clients are spread over the nodes, the audit sees what all of
//! them committed, and a node that dies ends the trial.

use crate::audits::{SECOND, Work, session};
use crate::program::{Bench, records, signal, system_failure};
use crate::running::Running;
use dyno_drivers::{Driver, Table, block_on};
use dyno_engine::Node;
use dyno_host::counters;
use dyno_model::audit::AuditVerdict;
use dyno_model::catalog::OptionValue;
use dyno_model::event::{Event, Listener, Phase};
use dyno_model::plan::{ServerKind, StopRule};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_testkit::{RunningServer, processes_with, require_server, running_server};
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

fn node(server: &RunningServer) -> Node {
    Node {
        target: server.target(),
        client_target: None,
        barrier: server.barrier(),
        is_spare: false,
    }
}

fn nodes(server: &RunningServer) -> Vec<Node> {
    server.nodes().map(node).collect()
}

/// Holds a node up from before the clients begin, so that it neither commits nor repeats what
/// others commit: until the audit has begun, or until this is dropped.
struct BlockingSession {
    node: Target,
    is_over_at_audit: bool,
    release: Option<Sender<()>>,
}

impl BlockingSession {
    fn of(server: &RunningServer, is_over_at_audit: bool) -> Self {
        Self { node: server.target(), is_over_at_audit, release: None }
    }
}

impl Listener for BlockingSession {
    fn event(&mut self, event: &Event) {
        match event {
            Event::PhaseStarted { phase: Phase::Connecting, .. } => {
                let (release, released) = channel();
                let (locked, is_locked) = channel();
                let node = self.node.clone();
                std::thread::spawn(move || {
                    let lock = session(&node, "FLUSH TABLES WITH READ LOCK");
                    let _ = locked.send(());
                    let _ = released.recv();
                    // An audit that does not wait has its answer by then.
                    std::thread::sleep(Duration::from_secs(1));
                    drop(lock);
                });
                is_locked.recv().expect("the node is held up");
                self.release = Some(release);
            }
            Event::PhaseStarted { phase: Phase::Audit, .. } if self.is_over_at_audit => {
                self.release = None;
            }
            _ => {}
        }
    }
}

fn in_place(stop: StopRule) -> Work {
    Work::new("rush", &[("variant", OptionValue::Text("in-place".to_owned()))], 6, stop)
}

#[test]
fn clients_are_spread_over_the_nodes_which_are_all_waited_for() {
    let Some(server) = running_server(ServerKind::Galera, &[]) else { return };
    let nobody = AtomicUsize::new(0);
    let work = in_place(StopRule::TransactionsPerClient(10));
    assert!(work.prepare(&server.target()) > 0);
    let targets: Vec<Target> = server.nodes().map(RunningServer::target).collect();
    let count =
        |target: &Target| counters::snapshot(target).expect("a node answers")["wsrep_replicated"];
    let before: Vec<i64> = targets.iter().map(count).collect();
    let record = work.run_on(nodes(&server), &nobody, &mut ());
    let grown: Vec<i64> =
        targets.iter().map(count).zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(record.counters.committed, 60);
    // Two clients on each; what was refused was sent once more.
    assert!(grown.iter().all(|commits| *commits >= 20), "{grown:?}");
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);

    // The first is asked what came of it all, and has not done what the others committed when the
    // audit begins.
    let mut work = in_place(StopRule::Duration(Nanos(SECOND / 2)));
    work.load.grace = Nanos(SECOND / 5);
    assert!(work.prepare(&server.target()) > 0);
    let record = work.run_on(nodes(&server), &nobody, &mut BlockingSession::of(&server, true));
    // Its own clients were cut off; what the others committed is all there.
    assert!(record.counters.committed > 0 && record.counters.unfinished == 2);
    assert_eq!(record.audit.verdict(), AuditVerdict::Undecided, "{:?}", record.audit);

    // The second does not let go of its clients: their statements would take effect in the middle
    // of the next trial.
    let second = server.nodes().nth(1).expect("three nodes");
    let mut hindrance = BlockingSession::of(second, false);
    assert!(work.prepare(&server.target()) > 0);
    let record = work.run_on(nodes(&server), &nobody, &mut hindrance);
    assert_eq!((record.counters.unfinished, record.audit.unsettled), (2, 0), "{:?}", record.audit);
    let waiting = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE%'";
    let mut found = Table::default();
    block_on(session(&second.target(), "DO 1").query(waiting, &mut found)).expect("it answers");
    assert_eq!(found.0, [[Some("0".to_owned())]]);
}

#[test]
fn a_cluster_is_measured_and_a_lost_node_ends_the_trial() {
    if require_server(ServerKind::Galera).is_none() {
        return;
    }
    let bench = Bench::new();
    let spec = |stop: &str| {
        format!(
            "title = \"Cluster\"\n[[system]]\nname = \"Two\"\nserver = {{ kind = \"galera\", nodes = 2 }}\n\
             [workload]\nkind = \"rush\"\nvariant = \"in-place\"\n[load]\nclients = 4\n{stop}\n[design]\nblocks = 1\n"
        )
    };
    bench.file("cluster.toml", spec("transactions = 200"));
    let ended = bench.dyno(&["run", "cluster.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let [record] = &records(&bench.path().join("r"))[..] else { panic!("one trial: {ended}") };
    assert_eq!(record.counters.committed, 200);
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
    let differ =
        record.warnings.iter().find(|warning| matches!(warning, Warning::CountersDiffer { .. }));
    assert_eq!(differ, None);
    assert!(ended.stdout.contains("2 × ") && ended.stdout.contains("Galera 4"), "{ended}");

    bench.file("endless.toml", spec("duration = \"1h\"\nwarmup = \"0s\""));
    let run = Running::of(&bench, bench.command(&["run", "endless.toml", "--out", "dead"]));
    run.await_phase(Phase::Measure);
    let scratch = bench.path().to_str().expect("a path of text").to_owned();
    let servers = processes_with(&scratch).into_iter().filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--wsrep-node-name=node2")
    });
    for pid in servers {
        signal("-KILL", pid);
    }
    let ended = run.ended();
    assert_ne!(ended.code, 0, "{ended}");
    let [record] = &records(&bench.path().join("dead"))[..] else { panic!("one trial") };
    assert!(system_failure(record).contains("lost node 2"), "{:?}", record.warnings);
    assert_eq!(processes_with(&scratch), Vec::<u32>::new());
}

#[test]
fn missing_cluster_requirements_are_reported_before_the_run() {
    if require_server(ServerKind::Galera).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "cluster.toml",
        "title = \"Cluster\"\n[[system]]\nname = \"G\"\nserver = { kind = \"galera\" }\n\
         [workload]\nkind = \"rush\"\n[load]\nclients = 2\ntransactions = 2\n",
    );
    let plan = bench.dyno(&["plan", "cluster.toml"]);
    assert!(plan.stdout.contains("G: galera with 3 nodes, started by dyno"), "{plan}");
    let nowhere =
        bench.command(&["run", "cluster.toml"]).env("DYNO_GALERA_PROVIDER", "/nowhere.so").output();
    let ended = crate::program::Ended::from(nowhere.expect("dyno can be started"));
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("no Galera library found; searched"), "{ended}");
    assert!(ended.stderr.contains("/nowhere.so") && ended.stderr.contains("galera-4"), "{ended}");
    assert_eq!(bench.names(), ["cluster.toml"]);
}

#[test]
fn a_cluster_out_of_data_memory_ends_its_trial_with_its_error() {
    if require_server(ServerKind::Ndb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "full.toml",
        "title = \"Full\"\n[[system]]\nname = \"N\"\nserver = { kind = \"ndb\", nodes = 1, settings = { DataMemory = \"10M\" } }\n\
         [workload]\nkind = \"mass-insert\"\nrows_per_insert = 200\n[load]\nclients = 4\nduration = \"5m\"\nwarmup = \"0s\"\n\
         [design]\nblocks = 1\n",
    );
    let ended = bench.dyno(&["run", "full.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    let [record] = &records(&bench.path().join("r"))[..] else { panic!("one trial: {ended}") };
    let stopped = record.facts.as_ref().and_then(|facts| facts.stopped.clone());
    let stopped = stopped.map(|reason| reason.to_string()).unwrap_or_default();
    assert!(
        stopped.contains("out-of-resources (error 1114") && stopped.contains("is full"),
        "{stopped}"
    );
    assert!(record.counters.committed > 0 && record.is_cut_short(), "{:?}", record.counters);
    // All that it acknowledged is there.
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
    let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("is full"), "{ended}");
    assert_eq!(processes_with(bench.path().to_str().expect("a path of text")), Vec::<u32>::new());
}
