//! What audits say when something goes wrong on a real server: answers that never come, updates
//! that somebody else undoes, statements that wait for a lock for longer than the trial lasts.

use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_engine::loading::{Loading, load_data};
use dyno_engine::workload::{Native, WorkloadContext, catalog};
use dyno_engine::{Node, TrialError, TrialInput};
use dyno_model::audit::{AuditCheck, AuditVerdict, Balance};
use dyno_model::catalog::OptionValue;
use dyno_model::event::{Event, Listener, Phase};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, ServerKind, StopRule, Trial, WorkloadPlan};
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use dyno_model::units::Nanos;
use dyno_testkit::{ResponseDroppingProxy, running_server};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

const SERVERS: [ServerKind; 3] = [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A workload and its load.
pub(crate) struct Work {
    kind: &'static str,
    options: Vec<(&'static str, OptionValue)>,
    clients: u32,
    pub(crate) load: LoadPlan,
}

impl Work {
    pub(crate) fn new(
        kind: &'static str,
        options: &[(&'static str, OptionValue)],
        clients: u32,
        stop: StopRule,
    ) -> Self {
        let load = LoadPlan { grace: Nanos(120 * SECOND), ..LoadPlan::new(stop) };
        Self { kind, options: options.to_vec(), clients, load }
    }

    fn rush(variant: &str, rows: i64, clients: u32, stop: StopRule) -> Self {
        let variant = ("variant", OptionValue::Text(variant.to_owned()));
        Self::new("rush", &[variant, ("rows", OptionValue::Integer(rows))], clients, stop)
    }

    pub(crate) fn native(&self, engine: Engine) -> Native {
        let description =
            catalog().into_iter().find(|known| known.name == self.kind).expect("built in");
        let mut options = description.defaults();
        for (name, value) in &self.options {
            options.0.insert((*name).to_owned(), value.clone());
        }
        let plan = WorkloadPlan::new(self.kind, options);
        Native::build(&plan, WorkloadContext { engine, clients: self.clients, seed: 1 })
            .expect("the options fit")
    }

    /// Makes the tables and fills them; how many rows that were.
    pub(crate) fn prepare(&self, target: &Target) -> u64 {
        let interrupts = AtomicUsize::new(0);
        let native = self.native(target.engine);
        let loading = Loading { trial: "t", target, data: native.data(), interrupts: &interrupts };
        load_data(&loading, &mut ()).unwrap_or_else(|failure| panic!("{}: {failure}", self.kind))
    }

    pub(crate) fn run(
        &self,
        target: &Target,
        interrupts: &AtomicUsize,
        listener: &mut dyn Listener,
    ) -> TrialRecord {
        self.run_on(Node::alone(target.clone()), interrupts, listener)
    }

    /// The same with clients on several nodes.
    pub(crate) fn run_on(
        &self,
        nodes: Vec<Node>,
        interrupts: &AtomicUsize,
        listener: &mut dyn Listener,
    ) -> TrialRecord {
        let record = self.try_run_on(nodes, interrupts, listener);
        let record = record.unwrap_or_else(|error| panic!("{}: {error}", self.kind));
        assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
        record
    }

    pub(crate) fn try_run_on(
        &self,
        nodes: Vec<Node>,
        interrupts: &AtomicUsize,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        let engine = nodes[0].target.engine;
        let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
        let mut input = TrialInput::new(trial, nodes, self.clients, &self.load, 1, interrupts);
        input.load.shares_machine = true;
        self.native(engine).run_trial(&input, listener)
    }
}

fn query(target: &Target, sql: &str) {
    drop(session(target, sql));
}

/// A session in which `sql` was run.
pub(crate) fn session(target: &Target, sql: &str) -> Connection {
    let run = async {
        let mut connection = Connection::connect(target, &Io::Blocking).await?;
        connection.query(sql, &mut Discard).await.map(|_| connection)
    };
    block_on(run).unwrap_or_else(|failure| panic!("{sql}: {failure}"))
}

/// The server behind a thief of answers; statements travel as text, which the thief can read.
fn robbed(target: &Target, text: &'static str, answers: usize) -> (ResponseDroppingProxy, Target) {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    let thief = ResponseDroppingProxy::new(host, *port, text, answers);
    let address = thief.address();
    let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
    (thief, Target { endpoint, query_mode: QueryMode::Simple, ..target.clone() })
}

fn balance(record: &TrialRecord) -> Balance {
    record.audit.checks[0].balance().expect("the audit was run")
}

/// Changes the data when the audit begins.
pub(crate) struct LostUpdateInjector<'a> {
    pub(crate) target: &'a Target,
    pub(crate) sql: Option<&'a str>,
}

impl Listener for LostUpdateInjector<'_> {
    fn event(&mut self, event: &Event) {
        if let (Event::PhaseStarted { phase: Phase::Audit, .. }, Some(sql)) = (event, self.sql) {
            query(self.target, sql);
        }
    }
}

#[test]
fn commits_in_doubt_that_took_effect_hide_no_loss() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let direct = server.target();
        let work = Work::rush("for-update", 10, 4, StopRule::Transactions(200));
        let lost = "UPDATE rush SET c2 = c2 - 1 WHERE c1 <= 5";
        for (sql, lost_max, verdict) in
            [(None, 0, AuditVerdict::Intact), (Some(lost), 5, AuditVerdict::Undecided)]
        {
            work.prepare(&direct);
            let (thief, target) = robbed(&direct, "COMMIT", 8);
            let mut meddler = LostUpdateInjector { target: &direct, sql };
            let record = work.run(&target, &AtomicUsize::new(0), &mut meddler);
            let counters = &record.counters;
            assert_eq!(
                (thief.left(), counters.committed, counters.failed, counters.in_doubt),
                (0, 192, 8, 8),
                "{kind}"
            );
            let expected = Balance { lost_min: 0, lost_max, surplus_min: 0, surplus_max: 0 };
            assert_eq!(balance(&record), expected, "{kind}: {:?}", record.audit);
            assert_eq!(record.audit.verdict(), verdict, "{kind}");
        }
    }
}

/// Takes one from a counter and adds one to another while clients work, and ends the trial when
/// they have gone on.
struct BalancedUpdateInjector<'a> {
    target: &'a Target,
    interrupts: &'a AtomicUsize,
    intervals: u32,
}

impl Listener for BalancedUpdateInjector<'_> {
    fn interval(&mut self, interval: &IntervalRecord) {
        if interval.response_times.is_empty() {
            return;
        }
        self.intervals += 1;
        match self.intervals {
            1 => query(self.target, "UPDATE rush SET c2 = c2 + CASE c1 WHEN 1 THEN -1 ELSE 1 END"),
            2 => {}
            _ => self.interrupts.store(1, Ordering::Relaxed),
        }
    }
}

#[test]
fn a_lost_update_that_was_witnessed_counts_although_sums_match() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let work = Work::rush("for-update", 2, 4, StopRule::Duration(Nanos(600 * SECOND)));
        work.prepare(&target);
        let interrupts = AtomicUsize::new(0);
        let mut listener =
            BalancedUpdateInjector { target: &target, interrupts: &interrupts, intervals: 0 };
        let record = work.run(&target, &interrupts, &mut listener);
        let [
            AuditCheck::LostUpdates {
                committed, in_doubt, sum_before, sum_after, witnessed, ..
            },
        ] = &record.audit.checks[..]
        else {
            panic!("unexpected audit {:?}", record.audit);
        };
        let grown = u64::try_from(sum_after - sum_before).expect("it has grown");
        assert_eq!((grown, *in_doubt, *witnessed), (*committed, 0, 1), "{kind}");
        assert_eq!((balance(&record).lost_min, balance(&record).surplus_min), (1, 1), "{kind}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Violated, "{kind}");
    }
}

#[test]
fn an_insert_of_single_rows_in_doubt_is_not_sent_again() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let options = [("rows_per_insert", OptionValue::Integer(0))];
        let mut work = Work::new("bulk_insert", &options, 1, StopRule::Transactions(100_000));
        // Rows that were sent again and again, and refused as often, would take hours.
        work.load.time_limit = Nanos(60 * SECOND);
        work.prepare(&server.target());
        let (thief, target) = robbed(&server.target(), "INSERT INTO sbtest1 ", 1);
        let record = work.run(&target, &AtomicUsize::new(0), &mut ());
        assert_eq!(thief.left(), 0, "{kind}");
        let failed = BTreeMap::from([(FailureKind::ConnectionLost, 1)]);
        assert_eq!(
            (&record.counters.failed_by_kind, record.counters.in_doubt),
            (&failed, 1),
            "{kind}"
        );
        let [AuditCheck::RowCount { expected_min, expected_max, found, .. }] =
            record.audit.checks[..]
        else {
            panic!("unexpected audit {:?}", record.audit);
        };
        // All rows but that of the transaction that failed, and those in doubt took effect.
        assert_eq!((expected_max, found), (99_999, 99_999), "{kind}");
        assert!(expected_min < expected_max, "{kind}: the rows of one INSERT are in doubt");
        assert_eq!(record.audit.verdict(), AuditVerdict::Undecided, "{kind}");
    }
}

#[test]
fn work_in_doubt_is_no_violation_whatever_the_workload() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let direct = server.target();
        let number = OptionValue::Integer;
        let joined = match kind {
            ServerKind::Postgres => "COMMIT",
            // By itself: the only statement that changes rows.
            _ => "UPDATE dbatest d JOIN",
        };
        for (workload, options, text) in [
            ("rush", vec![("variant", OptionValue::Text("in-place".to_owned()))], "UPDATE rush"),
            ("mass-insert", vec![("rows_per_insert", number(3))], "INSERT INTO people"),
            ("bulk_insert", vec![("rows_per_insert", number(10))], "INSERT INTO sbtest"),
            ("oltp_insert", vec![("table_size", number(100))], "INSERT INTO sbtest"),
            ("oltp_delete", vec![("table_size", number(1_000))], "DELETE FROM sbtest"),
            ("row-by-row-update", vec![("rows", number(1_000))], "COMMIT"),
            ("temp-table-update", vec![("rows", number(1_000))], joined),
            ("crud", vec![], "CREATE TABLE crud_"),
            ("crud", vec![], "INSERT INTO crud_"),
            ("crud", vec![], "DROP TABLE crud_"),
        ] {
            let work = Work::new(workload, &options, 4, StopRule::Transactions(60));
            work.prepare(&direct);
            let (thief, target) = robbed(&direct, text, 3);
            let record = work.run(&target, &AtomicUsize::new(0), &mut ());
            let counters = &record.counters;
            assert_eq!((thief.left(), counters.committed), (0, 57), "{workload} on {kind}");
            assert_eq!((counters.failed, counters.in_doubt), (3, 3), "{workload} on {kind}");
            let balance = balance(&record);
            assert_eq!((balance.lost_min, balance.surplus_min), (0, 0), "{workload} on {kind}");
            assert_ne!(
                record.audit.verdict(),
                AuditVerdict::Violated,
                "{workload}: {:?}",
                record.audit
            );
        }
    }
}

/// Lets go of a lock when clients begin to work.
struct Holder(Connection);

impl Listener for Holder {
    fn event(&mut self, event: &Event) {
        if let Event::PhaseStarted { phase: Phase::WarmUp | Phase::Measure, .. } = event {
            block_on(self.0.query("ROLLBACK", &mut Discard)).expect("the lock can be let go");
        }
    }
}

#[test]
fn a_statement_blocked_past_its_trial_cannot_change_the_next() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let mut first = Work::rush("in-place", 1, 2, StopRule::Duration(Nanos(SECOND / 5)));
        first.load.grace = Nanos(SECOND / 5);
        first.prepare(&target);
        let mut holder = block_on(Connection::connect(&target, &Io::Blocking)).expect("it runs");
        for sql in ["BEGIN", "UPDATE rush SET c2 = c2 WHERE c1 = 1"] {
            block_on(holder.query(sql, &mut Discard))
                .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        }
        let record = first.run(&target, &AtomicUsize::new(0), &mut ());
        assert_eq!((record.counters.committed, record.counters.unfinished), (0, 2), "{kind}");
        assert_eq!(record.audit.unsettled, 0, "{kind}");
        assert_eq!(
            record.audit.verdict(),
            AuditVerdict::Intact,
            "{kind}: nothing was acknowledged"
        );

        let next = Work::rush("in-place", 1, 2, StopRule::Transactions(20));
        let record = next.run(&target, &AtomicUsize::new(0), &mut Holder(holder));
        assert_eq!(record.counters.committed, 20, "{kind}");
        let intact = Balance { lost_min: 0, lost_max: 0, surplus_min: 0, surplus_max: 0 };
        assert_eq!(balance(&record), intact, "{kind}: {:?}", record.audit);
    }
}
