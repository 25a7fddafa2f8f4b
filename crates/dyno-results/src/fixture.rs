//! A synthetic run for tests, and for looking at reports without a database.
//!
//! Every figure is invented by a fixed formula and a fixed sequence of pseudo-random numbers: the same [`Shape`] gives
//! the same run on every machine. Nothing in here was measured.

use crate::analysis::analyse;
use crate::report::model::ReportModel;
use crate::store::environment::Environment;
use crate::store::{Run, RunWriter, StoreError};
use dyno_model::audit::{AuditCheck, AuditRecord, LostUpdateWitness, WitnessedTransaction};
use dyno_model::catalog::{OptionValue, WorkloadOptions};
use dyno_model::event::{Event, Listener, Phase, StartTimes};
use dyno_model::failure::FailureKind;
use dyno_model::finding::Finding;
use dyno_model::latency;
use dyno_model::ledger::{Ledger, Outcomes, StatementCount};
use dyno_model::plan::{
    FORMAT, LoadPlan, ManagedServer, Metric, Plan, Published, ServerKind, StopRule, SystemPlan, SystemSource,
    Treatment, Trial, WorkloadPlan,
};
use dyno_model::record::{
    CommitGap, GeneratorRecord, Interval, LatencySummary, StatementLatency, TrialEnd, TrialRecord,
    WorkerRecord,
};
#[cfg(test)]
use dyno_model::record::{Lag, OpenLoop};
#[cfg(test)]
use dyno_model::response::Responses;
use dyno_model::target::QueryMode;
use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of an interval.
const SECOND: u64 = 1_000_000_000;
/// Measured intervals per trial.
const INTERVALS: u64 = 5;
/// Transactions that one pseudo-random value stands for.
const SHARE: u64 = 5;
/// Statements of a transaction, with the share of its time that each takes.
const STATEMENTS: [(&str, f64); 3] = [("select", 0.25), ("update", 0.35), ("commit", 0.40)];

/// What the synthetic run has.
#[derive(Debug, Clone)]
pub struct Shape {
    /// How many of MariaDB, MySQL, PostgreSQL.
    pub systems: usize,
    /// Levels of `workload.variant`; with one there is no factor.
    pub variants: Vec<&'static str>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Blocks.
    pub blocks: u32,
    /// Whether one trial is invalid and one fails.
    pub has_trouble: bool,
}

impl Shape {
    /// Three systems, two variants, four numbers of clients, five blocks, an invalid and a failed trial.
    #[must_use]
    pub fn rush() -> Self {
        Self {
            systems: 3,
            variants: vec!["read-modify-write", "in-place"],
            clients: vec![1, 20, 40, 60],
            blocks: 5,
            has_trouble: true,
        }
    }

    /// Two systems, three numbers of clients, three blocks, no trouble.
    #[must_use]
    pub fn small() -> Self {
        Self {
            systems: 2,
            variants: vec!["read-modify-write"],
            clients: vec![1, 8, 20],
            blocks: 3,
            has_trouble: false,
        }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let kinds = [
            ("MariaDB", ServerKind::Mariadb, "max_connections"),
            ("MySQL", ServerKind::Mysql, "max_connections"),
            ("PostgreSQL", ServerKind::Postgres, "max_connections"),
        ];
        let systems: Vec<_> = kinds[..self.systems]
            .iter()
            .map(|(name, kind, setting)| SystemPlan {
                name: (*name).to_owned(),
                source: SystemSource::Managed(ManagedServer {
                    kind: *kind,
                    settings: BTreeMap::from([((*setting).to_owned(), "200".to_owned())]),
                    bin_dir: None,
                    scratch: None,
                }),
                query_mode: QueryMode::Prepared,
                connect_timeout: Nanos(10 * SECOND),
            })
            .collect();
        let mut treatments = Vec::new();
        for system in 0..systems.len() {
            for variant in &self.variants {
                treatments
                    .extend(self.clients.iter().map(|clients| self.treatment(system, variant, *clients)));
            }
        }
        let mut scatter = Scatter(2005);
        let mut trials = Vec::new();
        for block in 1..=self.blocks {
            let mut order: Vec<usize> = (0..treatments.len()).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, (scatter.uniform() * (i + 1) as f64) as usize);
            }
            trials.extend(order.into_iter().enumerate().map(|(position, treatment)| Trial {
                id: format!("b{block:02}-{:03}", position + 1),
                block,
                treatment,
            }));
        }
        Plan {
            format: FORMAT,
            name: "rush".to_owned(),
            title: "SELECT + UPDATE + COMMIT under a rush of clients".to_owned(),
            description: "Every client reads a counter, adds one and writes it back, on 100 rows.".to_owned(),
            profile: Some("synthetic".to_owned()),
            seed: 2005,
            blocks: self.blocks,
            systems,
            factors: if self.variants.len() > 1 { vec!["workload.variant".to_owned()] } else { Vec::new() },
            treatments,
            trials,
            published: vec![Published {
                rows: Vec::new(),
                source: "notebook PC, 2005".to_owned(),
                series: "MySQL 5.0, one disk".to_owned(),
                metric: Metric::Throughput,
                clients: self.clients.clone(),
                values: self.clients.iter().map(|clients| 900.0 / f64::from(*clients).powf(0.3)).collect(),
                approximate: true,
                system: (self.systems > 1).then(|| "MySQL".to_owned()),
            }],
            compare: None,
            data: dyno_model::plan::FreshData::Load,
            storages: Vec::new(),
            endpoints: Vec::new(),
        }
    }

    fn treatment(&self, system: usize, variant: &str, clients: u32) -> Treatment {
        let options = [
            ("rows", OptionValue::Integer(100)),
            ("variant", OptionValue::Text(variant.to_owned())),
            ("isolation", OptionValue::Text("default".to_owned())),
        ];
        Treatment {
            system,
            clients,
            workload: WorkloadPlan {
                kind: "rush".to_owned(),
                options: WorkloadOptions(
                    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                ),
            },
            load: LoadPlan {
                warmup: Nanos(SECOND),
                grace: Nanos(5 * SECOND),
                time_limit: Nanos(60 * SECOND),
                ..LoadPlan::new(StopRule::Duration(Nanos(INTERVALS * SECOND)))
            },
            levels: if self.variants.len() > 1 { vec![variant.to_owned()] } else { Vec::new() },
            variation: dyno_model::plan::Variation::default(),
        }
    }

    /// Plays the whole run to a listener.
    pub fn play(&self, plan: &Plan, listener: &mut dyn Listener) {
        let trials = plan.trials.len();
        listener.event(&Event::RunStarted { trials, dyno_version: "0.1.0".to_owned(), boot: String::new() });
        for (index, system) in plan.systems.iter().enumerate() {
            listener.event(&Event::SystemStarting { system: system.name.clone() });
            listener.event(&Event::SystemReady {
                system: system.name.clone(),
                version: version(index).to_owned(),
                settings: BTreeMap::from([
                    ("max_connections".to_owned(), "200".to_owned()),
                    ("isolation level".to_owned(), isolation(index).to_owned()),
                ]),
                start: Some(StartTimes { starting: Nanos(SECOND * 6 / 5), restoring: None }),
            });
        }
        let mut scatter = Scatter(7);
        let failing = self.has_trouble.then_some(trials / 2);
        let invalid = self.has_trouble.then_some(trials / 3);
        for (number, trial) in plan.trials.iter().enumerate() {
            listener.event(&Event::TrialStarted { trial: trial.id.clone() });
            listener.event(&Event::PhaseStarted { trial: trial.id.clone(), phase: Phase::Measure });
            if failing == Some(number) {
                let reason = "the server closed the connection while the clients were connecting".to_owned();
                listener.event(&Event::TrialFailed { trial: trial.id.clone(), reason });
                continue;
            }
            let mut record = play_trial(plan, trial, &mut scatter, listener);
            if invalid == Some(number) {
                record.findings.push(Finding::GeneratorBusy { share: 0.953 });
            }
            listener.event(&Event::TrialFinished(Box::new(record)));
        }
        for system in &plan.systems {
            listener.event(&Event::SystemStopped { system: system.name.clone() });
        }
        listener.event(&Event::RunFinished { is_complete: failing.is_none(), is_interrupted: false });
    }

    /// Writes the run into a folder, which must not exist or be empty. The clock advances by 250 ms per event, from a
    /// fixed time on.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, StoreError> {
        let plan = self.plan();
        let spec =
            "title = \"SELECT + UPDATE + COMMIT under a rush of clients\"\n\n[workload]\nkind = \"rush\"\n";
        let mut milliseconds = 1_795_250_700_000;
        let clock = Box::new(move || {
            milliseconds += 250;
            Timestamp::from_millisecond(milliseconds).expect("a time in this century")
        });
        let mut writer = RunWriter::create_with_clock(folder, &plan, spec, &environment(), clock)?;
        self.play(&plan, &mut writer);
        writer.finish()
    }

    /// The run's report model, by way of a scratch folder that is removed again.
    ///
    /// # Panics
    /// When the system's temporary folder cannot be used.
    #[must_use]
    pub fn model(&self) -> ReportModel {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let scratch = std::env::temp_dir().join(format!("dyno-fixture-{}-{number}", std::process::id()));
        // The folder's name is part of the report, so it is fixed.
        let folder = scratch.join("20261121T084500Z-2005");
        self.write(&folder).expect("the temporary folder can be written");
        let data = Run::open(&folder).expect("what was written can be read").read_trials();
        std::fs::remove_dir_all(&scratch).expect("the scratch folder can be removed");
        analyse(&data)
    }
}

/// Repeatable scatter (xorshift64*).
struct Scatter(u64);

impl Scatter {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Sum of twelve uniform numbers minus six: nearly standard normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn environment() -> Environment {
    Environment {
        cpu_model: "Synthetic CPU at 2.50GHz".to_owned(),
        cpu_usable: 2,
        cpu_logical: 2,
        cpu_cores: 2,
        memory_bytes: 8 << 30,
        kernel: "Linux 6.1.0".to_owned(),
        os_release: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        architecture: "x86_64".to_owned(),
        virtualisation: String::new(),
        dyno_version: "0.1.0".to_owned(),
        build_profile: "release".to_owned(),
        kernel_settings: BTreeMap::from([("vm.swappiness".to_owned(), "60".to_owned())]),
        proxies: BTreeMap::new(),
    }
}

fn version(system: usize) -> &'static str {
    ["11.8.2-MariaDB", "9.7.0", "PostgreSQL 15.14"][system]
}

fn isolation(system: usize) -> &'static str {
    ["REPEATABLE-READ", "REPEATABLE-READ", "read committed"][system]
}

/// Mean response time in seconds: contention grows with the clients, differently per system and variant.
fn response_time(system: usize, variant: &str, clients: u32) -> f64 {
    let base = [0.0016, 0.0021, 0.0018][system];
    let contention = [0.055, 0.048, 0.041][system];
    let cost = if variant == "in-place" { 0.7 } else { 1.0 };
    base * cost * (1.0 + contention * f64::from(clients - 1).powf(1.1) * 10.0 / (1.0 + 9.0 * contention))
}

/// Share of acknowledged updates that are lost.
fn lost_share(system: usize, variant: &str, clients: u32) -> f64 {
    if variant == "in-place" || clients == 1 || system == 0 {
        return 0.0;
    }
    [0.0, 0.10, 0.06][system] * (f64::from(clients) / 20.0).sqrt()
}

/// One trial: its intervals go to the listener, its record is returned.
fn play_trial(plan: &Plan, trial: &Trial, scatter: &mut Scatter, listener: &mut dyn Listener) -> TrialRecord {
    let treatment = plan.treatment(trial);
    let variant = treatment.workload.options.text("variant").to_owned();
    let mean = response_time(treatment.system, &variant, treatment.clients)
        * (1.0 + 0.015 * f64::from(trial.block))
        * (0.02 * scatter.normal()).exp();
    let mut transaction = latency::histogram();
    let mut statements: Vec<_> =
        STATEMENTS.iter().map(|(name, _)| ((*name).to_owned(), latency::histogram())).collect();
    let conflicts = treatment.system == 0 && variant != "in-place" && treatment.clients > 1;
    let mut retries = 0;
    for number in 0..=INTERVALS {
        let mut interval = empty_interval(trial, number);
        // Every value stands for several transactions, which saves most of the time that this takes.
        for _ in 0..(f64::from(treatment.clients) / mean) as u64 / SHARE {
            // Log-normal with a tail: one transaction in forty waits about five times longer.
            let wait = if scatter.uniform() < 0.025 { 5.0 } else { 0.85 };
            let nanos = (1e9 * mean * wait * (0.25 * scatter.normal()).exp()).max(1000.0);
            interval.transaction.record_n(nanos as u64, SHARE).expect("the histogram grows");
            for ((_, histogram), (_, share)) in interval.statements.iter_mut().zip(STATEMENTS) {
                histogram.record_n((nanos * share) as u64, SHARE).expect("the histogram grows");
            }
        }
        interval.retries = if conflicts { interval.transaction.len() / 12 } else { 0 };
        if number > 0 {
            retries += interval.retries;
            let sums = statements.iter_mut().zip(&interval.statements);
            transaction.add(&interval.transaction).expect("sums grow");
            sums.for_each(|((_, sum), (_, part))| sum.add(part).expect("sums grow"));
        }
        listener.interval(&interval);
    }
    let lost = (transaction.len() as f64
        * lost_share(treatment.system, &variant, treatment.clients)
        * (0.05 * scatter.normal()).exp()) as u64;
    record(plan, trial, &Played { transaction, statements, retries, lost })
}

fn empty_interval(trial: &Trial, number: u64) -> Interval {
    let kinds = STATEMENTS.map(|(name, _)| name);
    Interval::empty(&trial.id, number == 0, Nanos(number * SECOND), Nanos(SECOND), &kinds)
}

struct Played {
    transaction: Histogram<u64>,
    statements: Vec<(String, Histogram<u64>)>,
    retries: u64,
    lost: u64,
}

fn record(plan: &Plan, trial: &Trial, played: &Played) -> TrialRecord {
    let treatment = plan.treatment(trial);
    let committed = played.transaction.len();
    let measured = INTERVALS * SECOND;
    let statement_count = |name: &str, sent: u64, failed: u64| StatementCount {
        name: name.to_owned(),
        sent,
        ok: sent - failed,
        failed,
        unfinished: 0,
        rows: if name == "select" { sent } else { 0 },
    };
    let by_kind = |count: u64| {
        if count == 0 { BTreeMap::new() } else { BTreeMap::from([(FailureKind::Serialization, count)]) }
    };
    let attempts = committed + played.retries;
    let ledger = Ledger {
        started: committed,
        outcomes: Outcomes { reads: attempts, writes: attempts - played.retries, others: committed },
        committed,
        attempts,
        retries: played.retries,
        retries_by_kind: by_kind(played.retries),
        statements: vec![
            statement_count("select", attempts, 0),
            statement_count("update", attempts, played.retries),
            statement_count("commit", committed, 0),
        ],
        ..Ledger::default()
    };
    let sum_after = i64::try_from(committed - played.lost).expect("small");
    let sent: u64 = ledger.statements.iter().map(|statement| statement.sent).sum();
    let mut findings = vec![Finding::SharedMachine, Finding::ShortWindow { seconds: INTERVALS as f64 }];
    if played.lost > 0 {
        findings.push(Finding::AuditViolated);
    }
    TrialRecord {
        trial: trial.clone(),
        started_at: "2026-11-21T08:45:01.000Z".to_owned(),
        server_version: version(treatment.system).to_owned(),
        measured: Nanos(measured),
        loading: Nanos(SECOND / 5),
        connecting: Nanos(SECOND / 50 * u64::from(treatment.clients)),
        transaction: LatencySummary::from(&played.transaction),
        statements: played
            .statements
            .iter()
            .map(|(name, histogram)| StatementLatency { name: name.clone(), latency: histogram.into() })
            .collect(),
        longest_gap: Some(CommitGap { at: Nanos(SECOND), length: Nanos(SECOND / 100) }),
        open_loop: None,
        work: None,
        growth: None,
        generator: GeneratorRecord {
            workers: vec![WorkerRecord {
                clients: treatment.clients,
                cpu: Nanos(sent * 4_800),
                wall: Nanos(measured),
                waited: Some(Nanos(measured - sent * 4_800)),
                queued: Some(Nanos(0)),
                wakeups: sent * 2 / 3,
                statements: sent,
            }],
            cpu_user: Nanos(sent * 1_900),
            cpu_system: Nanos(sent * 3_100),
            wakeup_lag_p99: 90_000,
            memory_peak: 14_000_000 + 20_000 * u64::from(treatment.clients),
            shares_machine: true,
        },
        server_counters: BTreeMap::new(),
        audit: audit(trial, played, committed, sum_after),
        end: TrialEnd::Trial,
        facts: None,
        findings,
        ledger,
    }
}

/// What an open loop would have said of a record, if so many arrivals had never been started, all of this age in nanoseconds.
#[cfg(test)]
pub(crate) fn open_loop(record: &TrialRecord, unstarted: u64, age: u64) -> OpenLoop {
    let times = &record.transaction;
    let mut responses = Responses::default();
    // The distribution in steps, as far as its summary tells.
    let steps = [(times.p50, 0.5), (times.p90, 0.4), (times.p95, 0.05), (times.p99, 0.04), (times.max, 0.01)];
    for (time, share) in steps {
        let _ = responses.committed.record_n(time, (times.count as f64 * share) as u64);
    }
    let _ = responses.censored.record_n(age, unstarted);
    OpenLoop {
        arrived: record.ledger.started + unstarted,
        unstarted,
        response: responses.summary(),
        lag: Some(Lag { count: times.count, awaited: times.count, p50: 20_000, p99: 90_000, max: 200_000 }),
    }
}

fn audit(trial: &Trial, played: &Played, committed: u64, sum_after: i64) -> AuditRecord {
    AuditRecord {
        checks: vec![
            AuditCheck::LostUpdates {
                committed,
                in_doubt: 0,
                sum_before: 0,
                sum_after,
                witnessed: played.lost * 9 / 10,
                examples: if played.lost > 0 { vec![witness(trial)] } else { Vec::new() },
            },
            AuditCheck::RowCount {
                table: "rush".to_owned(),
                expected_min: 100,
                expected_max: 100,
                found: 100,
            },
        ],
        unsettled: 0,
    }
}

fn witness(trial: &Trial) -> LostUpdateWitness {
    let transaction =
        |client, sequence, committed_at| WitnessedTransaction { client, sequence, committed_at };
    LostUpdateWitness {
        row: 42,
        value_read: 10 + i64::from(trial.block),
        first: transaction(3, 17, 1_203_400_000),
        second: transaction(11, 15, 1_203_900_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_shape_gives_the_same_model() {
        assert_eq!(Shape::small().model(), Shape::small().model());
    }

    #[test]
    fn the_books_of_every_trial_balance() {
        struct Books(usize);
        impl Listener for Books {
            fn event(&mut self, event: &Event) {
                if let Event::TrialFinished(record) = event {
                    assert_eq!(record.ledger.check(), Vec::<String>::new());
                    self.0 += 1;
                }
            }
        }
        let shape = Shape::small();
        let mut books = Books(0);
        shape.play(&shape.plan(), &mut books);
        assert_eq!(books.0, 18);
    }
}
