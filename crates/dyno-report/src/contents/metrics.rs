//! How metrics are shown: heading and format of each [`Metric`], and the columns of each table.
//! CSV lists all metrics; a table shows those of its columns that have a heading.

use crate::cell::Cell;
use crate::figures;
use crate::messages::{Message, columns};
use dyno_analysis::model::{Figure, Figures, Metric};

use Metric::*;

/// Column title with the unit; `None` if no table shows the metric.
pub(crate) fn heading(metric: Metric) -> Option<&'static Message> {
    Some(match metric {
        Throughput => &columns::THROUGHPUT,
        NewOrdersPerMinute => &columns::NEW_ORDERS_PER_MINUTE,
        PacedShare => &columns::PACED_SHARE,
        RolledBack => &columns::ROLLED_BACK,
        RolledBackShare => &columns::ROLLED_BACK_SHARE,
        StatementsPerTransaction => &columns::STATEMENTS_PER_TRANSACTION,
        CommitsPerTransaction => &columns::COMMITS_PER_TRANSACTION,
        RowThroughput => &columns::ROW_THROUGHPUT,
        Mean => &columns::MEAN_MS,
        P50 => &columns::P50_MS,
        P90 => &columns::P90_MS,
        P95 => &columns::P95_MS,
        P99 => &columns::P99_MS,
        P999 => &columns::P999_MS,
        Max => &columns::MAX_MS,
        LongestGap => &columns::GAP_MS,
        HighestRate => &columns::HIGHEST_RATE,
        MostClients => &columns::MOST_CLIENTS,
        Length => &columns::LENGTH_S,
        Offered => &columns::OFFERED,
        AtWork => &columns::AT_WORK,
        NotCommitted => &columns::NOT_COMMITTED,
        Arrived => &columns::ARRIVED,
        NeverStarted => &columns::NEVER_STARTED,
        Committed => &columns::COMMITTED,
        Failed | FailedAfterFault => &columns::FAILED,
        Retries => &columns::RETRIES,
        Lost => &columns::LOST,
        LostPercent => &columns::LOST_PERCENT,
        // The tables of these distributions state the unit.
        MergedMean => &columns::MEAN,
        MergedDeviation => &columns::STANDARD_DEVIATION,
        MergedMin => &columns::MIN,
        MergedP50 => &columns::P50,
        MergedP70 => &columns::P70,
        MergedP80 => &columns::P80,
        MergedP90 => &columns::P90,
        MergedP95 => &columns::P95,
        MergedP99 => &columns::P99,
        MergedP999 => &columns::P999,
        MergedMax => &columns::MAX,
        Outage => &columns::OUTAGE,
        OutageMax | RecoveredMax | SlowestMax => &columns::AT_MOST,
        Recovered => &columns::RECOVERED,
        NotRecovered => &columns::NOT_RECOVERED,
        Missed => &columns::MISSED,
        Slowest => &columns::SLOWEST,
        Reconnects => &columns::RECONNECTS,
        Errors => &columns::ERRORS_SEEN,
        ErrorsFirst => &columns::ERRORS_FIRST,
        ErrorsLast => &columns::ERRORS_LAST,
        ErrorsMost => &columns::ERRORS_MOST,
        ErrorsMostAt => &columns::ERRORS_MOST_AT,
        Workers => &columns::WORKERS,
        WorkerCpu => &columns::WORKER_CPU,
        Stalled => &columns::STALLED,
        CpuUserPerStatement => &columns::CPU_USER,
        CpuSystemPerStatement => &columns::CPU_SYSTEM,
        WakeupLag => &columns::WAKEUP_LAG,
        GeneratorMemory => &columns::MEMORY,
        Lag => &columns::LAG,
        ClockUncertainty => &columns::CLOCK_UNCERTAINTY,
        HostCpu => &columns::HOST_CPU,
        CpuSteal => &columns::STEAL,
        ServerCpu => &columns::SERVER_CPU,
        ServerProcessors => &columns::SERVER_PROCESSORS,
        GeneratorProcessors => &columns::GENERATOR_CPU,
        ServerCpuPerTransaction => &columns::SERVER_CPU_PER_TRANSACTION,
        GeneratorCpuPerTransaction => &columns::GENERATOR_CPU_PER_TRANSACTION,
        ServerSwitchesPerTransaction => &columns::SWITCHES_PER_TRANSACTION,
        ServerReadPerTransaction => &columns::READ_PER_TRANSACTION,
        ServerWrittenPerTransaction => &columns::WRITTEN_PER_TRANSACTION,
        ServerMemory => &columns::SERVER_MEMORY,
        DiskBusy => &columns::DISK_BUSY,
        DiskRead => &columns::DISK_READ,
        DiskWritten => &columns::DISK_WRITTEN,
        Monitor => &columns::MONITOR_COST,
        Data => &columns::DATA_SIZE,
        // Only CSV and JSON have the others.
        _ => return None,
    })
}

/// A value with the unit of its column title.
fn text(metric: Metric, value: f64) -> String {
    match metric {
        // These are no whole numbers, or the title has the sign.
        AtWork
        | WorkerCpu
        | Stalled
        | ServerProcessors
        | GeneratorProcessors
        | StatementsPerTransaction
        | CommitsPerTransaction
        | ServerSwitchesPerTransaction => figures::digits(value),
        ServerReadPerTransaction | ServerWrittenPerTransaction => figures::digits(value / 1e3),
        _ => figures::value(metric.unit(), value),
    }
}

/// The cell of a metric.
pub(crate) fn cell(figures: &Figures, metric: Metric) -> Cell {
    let Some(figure) = figures.get(metric) else { return Cell::absent() };
    let text = figures::bounded(text(metric, figure.value()), figure.is_bound());
    Cell::figure(Some(text)).alarming(metric.is_problem() && figure.value() > 0.0)
}

/// The same with its interval and, if it is not based on `valid` trials, their number.
pub(crate) fn estimate_cell(figures: &Figures, metric: Metric, valid: Option<u32>) -> Cell {
    match figures.get(metric) {
        Some(Figure::Mean(estimate)) => Cell::estimate(Some(&estimate), valid),
        _ => cell(figures, metric),
    }
}

/// Response times of configurations.
pub(crate) const TIMES: &[Metric] = &[Mean, P95, P99];
/// Outcomes of a configuration's transactions.
pub(crate) const OUTCOMES: &[Metric] = &[Arrived, NeverStarted, Failed, Retries, LostPercent];
/// Figures of a stage of a load.
pub(crate) const STAGE: &[Metric] =
    &[Length, Offered, AtWork, Throughput, Mean, P95, P99, NotCommitted];
/// Figures of background workloads.
pub(crate) const PART: &[Metric] = &[Throughput, Mean, P95, P99, Committed, Failed, Retries];
/// Figures of the transactions of one name.
pub(crate) const NAMED: &[Metric] =
    &[Throughput, Mean, P95, P99, Committed, RolledBack, Failed, Retries];
/// Statements and commits of one transaction of a benchmark on a system.
pub(crate) const PER_TRANSACTION: &[Metric] = &[StatementsPerTransaction, CommitsPerTransaction];
/// Figures of a trial.
pub(crate) const TRIAL: &[Metric] = &[
    Throughput,
    Mean,
    P50,
    P95,
    P99,
    Max,
    LongestGap,
    Arrived,
    NeverStarted,
    Committed,
    Failed,
    Retries,
    Lost,
];
/// A distribution of response times.
pub(crate) const DISTRIBUTION: &[Metric] = &[
    MergedMean,
    MergedDeviation,
    MergedMin,
    MergedP50,
    MergedP70,
    MergedP80,
    MergedP90,
    MergedP95,
    MergedP99,
    MergedP999,
    MergedMax,
];
/// Effects of injected faults.
pub(crate) const FAULT: &[Metric] = &[
    Outage,
    OutageMax,
    Recovered,
    RecoveredMax,
    NotRecovered,
    Missed,
    Slowest,
    SlowestMax,
    FailedAfterFault,
    Reconnects,
];
/// Errors of one kind after a fault.
pub(crate) const FAULT_ERRORS: &[Metric] =
    &[Errors, ErrorsFirst, ErrorsLast, ErrorsMost, ErrorsMostAt];
/// The load generator itself.
pub(crate) const GENERATOR: &[Metric] = &[
    Workers,
    WorkerCpu,
    Stalled,
    CpuUserPerStatement,
    CpuSystemPerStatement,
    WakeupLag,
    GeneratorMemory,
    Lag,
];
/// One of several load generators.
pub(crate) const GENERATORS: &[Metric] = &[
    Committed,
    GeneratorProcessors,
    WorkerCpu,
    Stalled,
    WakeupLag,
    Lag,
    CpuSteal,
    GeneratorMemory,
    ClockUncertainty,
];
/// Resource usage of machine and server during trials.
pub(crate) const RESOURCES: &[Metric] = &[
    HostCpu,
    CpuSteal,
    ServerProcessors,
    GeneratorProcessors,
    ServerCpuPerTransaction,
    GeneratorCpuPerTransaction,
    ServerSwitchesPerTransaction,
    ServerReadPerTransaction,
    ServerWrittenPerTransaction,
    ServerMemory,
    DiskBusy,
    Monitor,
];
/// A step of a growing table, after its rate.
pub(crate) const STEP: &[Metric] = &[HostCpu, ServerCpu, DiskRead, DiskWritten, DiskBusy, Data];
