//! The table of all measures: CSV name, unit, heading, and how the model provides the value. Tables
//! and CSV iterate over these lists in order, so a measure that is added here appears in every
//! format of the report.

use crate::cell::Cell;
use crate::figures;
use crate::messages::{Message, columns};
use dyno_analysis::model::{
    CommitAudit, ConfigurationRow, Estimate, FaultErrors, FaultRow, GeneratorRow, GrowthStep,
    LedgerAudit, MergedLatency, NamedRow, ResourceRow, SearchRow, StageRow, TrialFigures, Unit,
    UpdateAudit,
};
use dyno_model::plan::{LoadBy, Metric};

/// A figure from the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    /// A single value.
    Value {
        /// In the measure's unit.
        value: f64,
        /// True when it is only a lower bound.
        is_bound: bool,
    },
    /// A mean over trials.
    Mean(Estimate),
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Self::Value { value, is_bound: false }
    }
}

impl From<u64> for Figure {
    fn from(number: u64) -> Self {
        (number as f64).into()
    }
}

impl From<Estimate> for Figure {
    fn from(estimate: Estimate) -> Self {
        Self::Mean(estimate)
    }
}

/// A measure of a row of the model.
#[derive(Debug)]
pub(crate) struct Measure<R> {
    /// Its name in CSV, the same in every language; empty if CSV omits it.
    pub(crate) id: &'static str,
    pub(crate) unit: Unit,
    /// Column title; `None` if no table shows it.
    pub(crate) heading: Option<&'static Message>,
    /// Reads it from a row; `None` if the row has no such figure.
    pub(crate) of: fn(&R) -> Option<Figure>,
    /// Formatter, if the unit does not determine the format.
    look: Option<fn(f64) -> String>,
    /// True when any value above 0 indicates a problem.
    is_alarm: bool,
}

impl<R> Measure<R> {
    /// A measure that only CSV has.
    const fn untold(id: &'static str, unit: Unit, of: fn(&R) -> Option<Figure>) -> Self {
        Self { id, unit, heading: None, of, look: None, is_alarm: false }
    }

    const fn new(
        id: &'static str,
        unit: Unit,
        heading: &'static Message,
        of: fn(&R) -> Option<Figure>,
    ) -> Self {
        Self { heading: Some(heading), ..Self::untold(id, unit, of) }
    }

    /// A measure for which any value above 0 indicates a problem.
    const fn alarm(
        id: &'static str,
        unit: Unit,
        heading: &'static Message,
        of: fn(&R) -> Option<Figure>,
    ) -> Self {
        Self { is_alarm: true, ..Self::new(id, unit, heading, of) }
    }

    /// A measure with its own formatter.
    const fn shown(
        look: fn(f64) -> String,
        id: &'static str,
        unit: Unit,
        heading: &'static Message,
        of: fn(&R) -> Option<Figure>,
    ) -> Self {
        Self { look: Some(look), ..Self::new(id, unit, heading, of) }
    }

    /// Its cell in a row.
    pub(crate) fn cell(&self, row: &R) -> Cell {
        let Some(figure) = (self.of)(row) else { return Cell::figure(None) };
        let (value, is_bound) = match figure {
            Figure::Value { value, is_bound } => (value, is_bound),
            Figure::Mean(estimate) => (estimate.mean, estimate.is_bound),
        };
        let text = self.look.map_or_else(|| figures::value(self.unit, value), |look| look(value));
        Cell::figure(Some(figures::bounded(text, is_bound))).alarming(self.is_alarm && value > 0.0)
    }

    /// Its cell in a row, with its interval and, if it is not based on `valid` trials, their
    /// number.
    pub(crate) fn estimate_cell(&self, row: &R, valid: Option<u32>) -> Cell {
        match (self.of)(row) {
            Some(Figure::Mean(estimate)) => Cell::estimate(Some(&estimate), valid),
            _ => self.cell(row),
        }
    }
}

fn figure<T: Into<Figure>>(value: Option<T>) -> Option<Figure> {
    value.map(Into::into)
}

fn bounded(value: Option<f64>, is_bound: bool) -> Option<Figure> {
    value.map(|value| Figure::Value { value, is_bound })
}

fn kilobytes(bytes: f64) -> String {
    figures::digits(bytes / 1e3)
}

use Unit::{
    Bytes, Count, Microseconds, Milliseconds, Percent, RowsPerSecond, Seconds,
    TransactionsPerSecond,
};

/// CSV name of a metric, and its heading with the unit.
pub(crate) fn metric(metric: Metric) -> (&'static str, &'static Message) {
    match metric {
        Metric::Throughput => ("throughput", &columns::THROUGHPUT),
        Metric::MeanMs => ("mean", &columns::MEAN_MS),
        Metric::P50Ms => ("p50", &columns::P50_MS),
        Metric::P90Ms => ("p90", &columns::P90_MS),
        Metric::P95Ms => ("p95", &columns::P95_MS),
        Metric::P99Ms => ("p99", &columns::P99_MS),
        Metric::P999Ms => ("p99.9", &columns::P999_MS),
        Metric::MaxMs => ("max", &columns::MAX_MS),
        Metric::HighestRate => ("highest-rate", &columns::HIGHEST_RATE),
        Metric::MostClients => ("most-clients", &columns::MOST_CLIENTS),
    }
}

/// Rates and times of a configuration.
pub(crate) const CONFIGURATION_RATES: &[Measure<ConfigurationRow>] = &[
    Measure::new("throughput", TransactionsPerSecond, &columns::THROUGHPUT, |it| {
        figure(it.throughput)
    }),
    Measure::new("mean", Milliseconds, &columns::MEAN_MS, |it| figure(it.mean)),
    Measure::untold("p50", Milliseconds, |it| figure(it.p50)),
    Measure::new("p95", Milliseconds, &columns::P95_MS, |it| figure(it.p95)),
    Measure::new("p99", Milliseconds, &columns::P99_MS, |it| figure(it.p99)),
];

/// Results of saturation searches.
pub(crate) const FOUND: &[Measure<SearchRow>] = &[
    Measure::new("highest-rate", TransactionsPerSecond, &columns::HIGHEST_RATE, |it| {
        figure(it.found.filter(|_| it.search.most == LoadBy::Rate))
    }),
    Measure::new("most-clients", Count, &columns::MOST_CLIENTS, |it| {
        figure(it.found.filter(|_| it.search.most == LoadBy::Clients))
    }),
];

/// Measures of a stage of a load.
pub(crate) const STAGE: &[Measure<StageRow>] = &[
    Measure::shown(figures::digits, "length", Seconds, &columns::LENGTH_S, |it| {
        figure(Some(it.length_s))
    }),
    Measure::new("offered", TransactionsPerSecond, &columns::OFFERED, |it| {
        figure((it.by == LoadBy::Rate).then_some(it.load))
    }),
    Measure::shown(figures::digits, "at-work", Count, &columns::AT_WORK, |it| {
        figure((it.by == LoadBy::Clients).then_some(it.load))
    }),
    Measure::new("throughput", TransactionsPerSecond, &columns::THROUGHPUT, |it| {
        figure(it.throughput)
    }),
    Measure::new("mean", Milliseconds, &columns::MEAN_MS, |it| figure(it.mean)),
    Measure::untold("p50", Milliseconds, |it| figure(it.p50)),
    Measure::new("p95", Milliseconds, &columns::P95_MS, |it| figure(it.p95)),
    Measure::new("p99", Milliseconds, &columns::P99_MS, |it| figure(it.p99)),
    Measure::untold("begun", Count, |it| figure(Some(it.begun))),
    Measure::alarm("not-committed", Count, &columns::NOT_COMMITTED, |it| {
        figure((it.by == LoadBy::Rate).then_some(it.not_committed))
    }),
];

/// Measures of the transactions of one name.
pub(crate) const NAMED: &[Measure<NamedRow>] = &[
    Measure::new("throughput", TransactionsPerSecond, &columns::THROUGHPUT, |it| {
        figure(it.throughput)
    }),
    Measure::new("mean", Milliseconds, &columns::MEAN_MS, |it| figure(it.mean)),
    Measure::untold("p50", Milliseconds, |it| figure(it.p50)),
    Measure::new("p95", Milliseconds, &columns::P95_MS, |it| figure(it.p95)),
    Measure::new("p99", Milliseconds, &columns::P99_MS, |it| figure(it.p99)),
    Measure::new("committed", Count, &columns::COMMITTED, |it| figure(Some(it.committed))),
    Measure::alarm("failed", Count, &columns::FAILED, |it| figure(Some(it.failed))),
    Measure::untold("unfinished", Count, |it| figure(Some(it.unfinished))),
    Measure::new("retries", Count, &columns::RETRIES, |it| figure(Some(it.retries))),
];

/// Outcomes of a configuration's transactions.
pub(crate) const CONFIGURATION_COUNTERS: &[Measure<ConfigurationRow>] = &[
    Measure::new("arrived", Count, &columns::ARRIVED, |it| figure(it.arrived)),
    Measure::new("never-started", Count, &columns::NEVER_STARTED, |it| figure(it.unstarted)),
    Measure::untold("committed", Count, |it| figure(Some(it.committed))),
    Measure::alarm("failed", Count, &columns::FAILED, |it| figure(it.failed)),
    Measure::untold("unfinished", Count, |it| figure(Some(it.unfinished))),
    Measure::new("retries", Count, &columns::RETRIES, |it| figure(it.retries)),
    Measure::untold("skipped", Count, |it| figure((it.skipped > 0).then_some(it.skipped))),
];

/// Acknowledged work of a configuration that is missing from the data.
pub(crate) const CONFIGURATION_LOST: Measure<ConfigurationRow> =
    Measure::alarm("lost", Percent, &columns::LOST_PERCENT, |it| figure(it.lost_percent));

/// Figures of a trial.
pub(crate) const TRIAL: &[Measure<TrialFigures>] = &[
    Measure::new("throughput", TransactionsPerSecond, &columns::THROUGHPUT, |it| {
        figure(Some(it.throughput))
    }),
    Measure::new("mean", Milliseconds, &columns::MEAN_MS, |it| {
        bounded(it.mean_ms, it.is_bound(Metric::MeanMs))
    }),
    Measure::new("p50", Milliseconds, &columns::P50_MS, |it| {
        bounded(it.p50_ms, it.is_bound(Metric::P50Ms))
    }),
    Measure::new("p95", Milliseconds, &columns::P95_MS, |it| {
        bounded(it.p95_ms, it.is_bound(Metric::P95Ms))
    }),
    Measure::new("p99", Milliseconds, &columns::P99_MS, |it| {
        bounded(it.p99_ms, it.is_bound(Metric::P99Ms))
    }),
    // The maximum is a bound if the mean is one.
    Measure::new("max", Milliseconds, &columns::MAX_MS, |it| {
        bounded(it.max_ms, it.is_bound(Metric::MeanMs))
    }),
    Measure::new("longest_gap", Milliseconds, &columns::GAP_MS, |it| figure(it.longest_gap_ms)),
    Measure::new("arrived", Count, &columns::ARRIVED, |it| figure(it.arrived)),
    Measure::new("never-started", Count, &columns::NEVER_STARTED, |it| figure(it.unstarted)),
    Measure::untold("window", Seconds, |it| figure(Some(it.measured_s))),
    Measure::new("committed", Count, &columns::COMMITTED, |it| figure(Some(it.committed))),
    Measure::alarm("failed", Count, &columns::FAILED, |it| figure(it.failed)),
    Measure::untold("unfinished", Count, |it| figure(Some(it.unfinished))),
    Measure::new("retries", Count, &columns::RETRIES, |it| figure(it.retries)),
    Measure::untold("skipped", Count, |it| figure((it.skipped > 0).then_some(it.skipped))),
    Measure::alarm("lost", Count, &columns::LOST, |it| figure(it.lost)),
];

/// A distribution of response times. The column titles omit the unit, which the table states.
pub(crate) const LATENCY: &[Measure<MergedLatency>] = &[
    Measure::new("", Milliseconds, &columns::MEAN, |it| bounded(Some(it.mean), it.censored > 0)),
    Measure::new("", Milliseconds, &columns::STANDARD_DEVIATION, |it| {
        figure(Some(it.standard_deviation))
    }),
    Measure::new("", Milliseconds, &columns::MIN, |it| figure(Some(it.min))),
    Measure::new("merged-p50", Milliseconds, &columns::P50, |it| {
        bounded(it.p50, it.is_bound(50.0))
    }),
    Measure::new("merged-p70", Milliseconds, &columns::P70, |it| {
        bounded(it.p70, it.is_bound(70.0))
    }),
    Measure::new("merged-p80", Milliseconds, &columns::P80, |it| {
        bounded(it.p80, it.is_bound(80.0))
    }),
    Measure::new("merged-p90", Milliseconds, &columns::P90, |it| {
        bounded(it.p90, it.is_bound(90.0))
    }),
    Measure::new("merged-p95", Milliseconds, &columns::P95, |it| {
        bounded(it.p95, it.is_bound(95.0))
    }),
    Measure::new("merged-p99", Milliseconds, &columns::P99, |it| {
        bounded(it.p99, it.is_bound(99.0))
    }),
    Measure::new("merged-p99.9", Milliseconds, &columns::P999, |it| {
        bounded(it.p999, it.is_bound(99.9))
    }),
    Measure::new("merged-max", Milliseconds, &columns::MAX, |it| {
        bounded(Some(it.max), it.is_bound(100.0))
    }),
];

/// Acknowledged updates against updates in the data. Lost updates are a range, which the table
/// adds.
pub(crate) const UPDATES: &[Measure<UpdateAudit>] = &[
    Measure::new("", Count, &columns::WITNESSED, |it| figure(Some(it.witnessed))),
    Measure::alarm("", Count, &columns::PHANTOM, |it| figure(Some(it.phantom))),
    Measure::new("", Count, &columns::IN_DOUBT, |it| figure(Some(it.in_doubt))),
    Measure::new("", Count, &columns::STATEMENT_ERRORS, |it| figure(Some(it.statement_errors))),
];

/// Acknowledged commits against commits in the data.
pub(crate) const COMMITS: &[Measure<CommitAudit>] = &[
    Measure::new("", Count, &columns::ACKNOWLEDGED, |it| figure(Some(it.committed))),
    Measure::alarm("", Count, &columns::LOST, |it| figure(Some(it.lost))),
    Measure::alarm("", Count, &columns::LOSING_TRIALS, |it| {
        figure(Some(u64::from(it.trials_with_losses)))
    }),
];

/// Rows of the commit ledger, next to these.
pub(crate) const LEDGER: &[Measure<LedgerAudit>] = &[
    Measure::alarm("", Count, &columns::PHANTOM, |it| figure(Some(it.phantoms))),
    Measure::new("", Count, &columns::IN_DOUBT, |it| figure(Some(it.in_doubt))),
    Measure::new("", Count, &columns::TOOK_EFFECT, |it| figure(Some(it.took_effect))),
];

/// Effects of injected faults.
pub(crate) const FAULT: &[Measure<FaultRow>] = &[
    Measure::new("outage", Seconds, &columns::OUTAGE, |it| figure(Some(it.outage.median))),
    Measure::new("outage-max", Seconds, &columns::AT_MOST, |it| figure(Some(it.outage.max))),
    Measure::new("recovered", Seconds, &columns::RECOVERED, |it| {
        figure(it.recovered.map(|spread| spread.median))
    }),
    Measure::new("recovered-max", Seconds, &columns::AT_MOST, |it| {
        figure(it.recovered.map(|spread| spread.max))
    }),
    Measure::alarm("not-recovered", Count, &columns::NOT_RECOVERED, |it| {
        figure(Some(u64::from(it.not_recovered)))
    }),
    Measure::new("missed", Seconds, &columns::MISSED, |it| {
        figure(it.missed.map(|spread| spread.median))
    }),
    Measure::new("slowest", Seconds, &columns::SLOWEST, |it| figure(Some(it.slowest.median))),
    Measure::new("slowest-max", Seconds, &columns::AT_MOST, |it| figure(Some(it.slowest.max))),
    Measure::new("failed-after-fault", Count, &columns::FAILED, |it| figure(Some(it.failed))),
    Measure::new("reconnects", Count, &columns::RECONNECTS, |it| figure(Some(it.reconnects))),
];

/// Errors of one kind after a fault; in CSV, the name includes the kind.
pub(crate) const FAULT_ERRORS: &[Measure<FaultErrors>] = &[
    Measure::new("errors", Count, &columns::ERRORS_SEEN, |it| figure(Some(it.errors))),
    Measure::new("errors-first", Seconds, &columns::ERRORS_FIRST, |it| figure(Some(it.first_s))),
    Measure::new("errors-last", Seconds, &columns::ERRORS_LAST, |it| figure(Some(it.last_s))),
    Measure::new("errors-most", Count, &columns::ERRORS_MOST, |it| figure(Some(it.most))),
    Measure::new("errors-most-at", Seconds, &columns::ERRORS_MOST_AT, |it| figure(Some(it.most_s))),
];

/// Measures of the load generator itself.
pub(crate) const GENERATOR: &[Measure<GeneratorRow>] = &[
    Measure::new("", Count, &columns::WORKERS, |it| figure(Some(u64::from(it.workers)))),
    Measure::shown(figures::digits, "", Percent, &columns::WORKER_CPU, |it| {
        figure(Some(it.worker_cpu_percent_max))
    }),
    Measure::shown(figures::digits, "", Percent, &columns::HELD_UP, |it| {
        figure(it.held_up_percent_max)
    }),
    Measure::new("", Microseconds, &columns::CPU_USER, |it| {
        figure(Some(it.cpu_user_per_statement_us))
    }),
    Measure::new("", Microseconds, &columns::CPU_SYSTEM, |it| {
        figure(Some(it.cpu_system_per_statement_us))
    }),
    Measure::new("", Milliseconds, &columns::WAKEUP_LAG, |it| figure(it.wakeup_lag_p99_ms)),
    Measure::new("", Bytes, &columns::MEMORY, |it| figure(Some(it.memory_peak_bytes))),
    Measure::new("", Milliseconds, &columns::LAG, |it| figure(it.lag_p99_ms)),
];

/// Resource usage of machine and server during trials.
pub(crate) const RESOURCES: &[Measure<ResourceRow>] = &[
    Measure::new("", Percent, &columns::HOST_CPU, |it| figure(it.busy_percent())),
    Measure::untold("cpu-user", Percent, |it| figure(it.user_percent)),
    Measure::untold("cpu-system", Percent, |it| figure(it.system_percent)),
    Measure::untold("cpu-iowait", Percent, |it| figure(it.iowait_percent)),
    Measure::new("cpu-steal", Percent, &columns::STEAL, |it| figure(it.steal_percent)),
    Measure::shown(figures::digits, "server-processors", Count, &columns::SERVER_CPU, |it| {
        figure(it.server_processors)
    }),
    Measure::shown(figures::digits, "generator-processors", Count, &columns::GENERATOR_CPU, |it| {
        figure(it.generator_processors)
    }),
    Measure::new(
        "server-cpu-per-transaction",
        Microseconds,
        &columns::SERVER_CPU_PER_TRANSACTION,
        |it| figure(it.server_cpu_per_transaction_us),
    ),
    Measure::new(
        "generator-cpu-per-transaction",
        Microseconds,
        &columns::GENERATOR_CPU_PER_TRANSACTION,
        |it| figure(it.generator_cpu_per_transaction_us),
    ),
    Measure::shown(
        figures::digits,
        "server-switches-per-transaction",
        Count,
        &columns::SWITCHES_PER_TRANSACTION,
        |it| figure(it.server_switches_per_transaction),
    ),
    Measure::shown(
        kilobytes,
        "server-read-per-transaction",
        Bytes,
        &columns::READ_PER_TRANSACTION,
        |it| figure(it.server_read_bytes_per_transaction),
    ),
    Measure::shown(
        kilobytes,
        "server-written-per-transaction",
        Bytes,
        &columns::WRITTEN_PER_TRANSACTION,
        |it| figure(it.server_written_bytes_per_transaction),
    ),
    Measure::new("server-memory", Bytes, &columns::SERVER_MEMORY, |it| {
        figure(it.server_resident_bytes)
    }),
    Measure::untold("server-threads", Count, |it| figure(it.server_threads)),
    Measure::new("disk-busy", Percent, &columns::DISK_BUSY, |it| figure(it.disk_busy_percent)),
    Measure::untold("disk-queue", Count, |it| figure(it.disk_queue)),
    Measure::untold("disk-read-per-second", Bytes, |it| figure(it.disk_read_bytes_per_second)),
    Measure::untold("disk-written-per-second", Bytes, |it| {
        figure(it.disk_written_bytes_per_second)
    }),
    Measure::untold("cpu-pressure", Percent, |it| figure(it.cpu_pressure_percent)),
    Measure::untold("io-pressure", Percent, |it| figure(it.io_pressure_percent)),
    Measure::untold("memory-pressure", Percent, |it| figure(it.memory_pressure_percent)),
    Measure::new("monitor", Percent, &columns::MONITOR_COST, |it| figure(it.monitor_percent)),
];

/// Measures of a step of a growing table.
pub(crate) const STEP: &[Measure<GrowthStep>] = &[
    Measure::new("throughput", RowsPerSecond, &columns::GROWTH_RATE, |it| {
        figure(it.rows_per_second)
    }),
    Measure::new("cpu", Percent, &columns::GROWTH_CPU, |it| figure(it.cpu_percent)),
    Measure::new("server-cpu", Percent, &columns::GROWTH_SERVER, |it| figure(it.server_percent)),
    Measure::new("disk-read-per-second", Bytes, &columns::GROWTH_READ, |it| figure(it.disk_read)),
    Measure::new("disk-written-per-second", Bytes, &columns::GROWTH_WRITTEN, |it| {
        figure(it.disk_written)
    }),
    Measure::new("disk-busy", Percent, &columns::DISK_BUSY, |it| figure(it.disk_busy_percent)),
    Measure::new("data", Bytes, &columns::GROWTH_DATA, |it| figure(it.data_bytes)),
];
