//! The metrics of a report. Each is declared here once: its name in CSV and JSON, its unit and
//! its meaning. `dyno-report` has its heading. [`ComparisonMetric`] names those of them that a spec
//! can compare and limit.

use super::estimate::Unit;
use dyno_model::plan::ComparisonMetric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $name:ident = $id:literal, $unit:ident;)*) => {
        /// A metric of a report. Tables and CSV list metrics in this order.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Metric {
            $($(#[doc = $doc])* #[serde(rename = $id)] $name,)*
        }

        impl Metric {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its name in CSV and JSON, the same in every language.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// Its meaning: the documentation of the variant.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),*),)* }
            }

            /// The unit of its values.
            #[must_use]
            pub fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)* }
            }
        }
    };
}

metrics! {
    /// Committed transactions per second of the measured window. With a duration as the stop rule,
    /// transactions across its edges count with the share of their time inside it; intervals of a
    /// timeline count the transactions that ended in them.
    Throughput = "throughput", TransactionsPerSecond;
    /// Committed new orders per minute, of a workload derived from TPC-C. Only with the standard's
    /// pacing do they say something about tpmC.
    NewOrdersPerMinute = "new-orders-per-minute", TransactionsPerMinute;
    /// The same in percent of what keying and think times of the standard allow; only with them.
    PacedShare = "paced-share", Percent;
    /// Warehouses of a workload derived from TPC-C.
    Warehouses = "warehouses", Count;
    /// Those in which a new order was committed, in the trial with the fewest.
    WarehousesTouched = "warehouses-touched", Count;
    /// Districts of these warehouses.
    Districts = "districts", Count;
    /// Those in which a new order was committed, in the trial with the fewest.
    DistrictsTouched = "districts-touched", Count;
    /// Transactions that the workload rolled back because its standard demands it. They do
    /// not count as failures.
    RolledBack = "rolled-back", Count;
    /// The same in percent of all new orders, of which TPC-C wants 1 % rolled back.
    RolledBackShare = "rolled-back-share", Percent;
    /// Rows committed per second, of a growing table.
    RowThroughput = "row-throughput", RowsPerSecond;
    /// Mean response time of a transaction. In an open loop, response times begin when the
    /// transaction was due. Over several trials, this, the percentiles and throughput are geometric
    /// means of the trials' figures.
    Mean = "mean", Milliseconds;
    /// Median response time.
    P50 = "p50", Milliseconds;
    /// 90th percentile.
    P90 = "p90", Milliseconds;
    /// 95th percentile.
    P95 = "p95", Milliseconds;
    /// 99th percentile.
    P99 = "p99", Milliseconds;
    /// 99.9th percentile.
    P999 = "p99.9", Milliseconds;
    /// Longest response time.
    Max = "max", Milliseconds;
    /// Longest time without a commit of any client.
    LongestGap = "longest-gap", Milliseconds;
    /// Highest load that meets a limit: the result of a search.
    HighestRate = "highest-rate", TransactionsPerSecond;
    /// Highest number of clients that meets a limit: the result of a search.
    MostClients = "most-clients", Count;
    /// Length of a stage.
    Length = "length", Seconds;
    /// Mean arrival rate of a stage.
    Offered = "offered", TransactionsPerSecond;
    /// Mean number of active clients of a stage.
    AtWork = "at-work", Count;
    /// Transactions that began in a stage, or were due in it.
    Started = "started", Count;
    /// Open loop: those of them that did not commit.
    NotCommitted = "not-committed", Count;
    /// Open loop: transactions that were due.
    Arrived = "arrived", Count;
    /// Open loop: due transactions that no client started.
    NeverStarted = "never-started", Count;
    /// Length of the measurement window.
    WindowLength = "window", Seconds;
    /// Transactions committed, in valid trials, with those that a workload rolls back because its
    /// standard demands it.
    Committed = "committed", Count;
    /// Transactions given up, in all measured trials.
    Failed = "failed", Count;
    /// Transactions cut off at the end.
    Unfinished = "unfinished", Count;
    /// Attempts after the first.
    Retries = "retries", Count;
    /// Retries per committed transaction, in valid trials.
    RetriesPerCommit = "retries-per-commit", Ratio;
    /// Statements sent per committed transaction, with BEGIN and COMMIT and those of retries, in
    /// valid trials.
    StatementsPerTransaction = "statements-per-transaction", Count;
    /// COMMIT statements sent per committed transaction, in valid trials, warm-up included; absent
    /// where every statement commits by itself. A server may count commits in another way.
    CommitsPerTransaction = "commits-per-transaction", Count;
    /// Transactions not started because they were too late.
    Skipped = "skipped", Count;
    /// Acknowledged updates that are missing from the data.
    Lost = "lost", Count;
    /// The same in percent of the commits that were checked.
    LostPercent = "lost-percent", Percent;
    /// Number of response times, all valid trials merged.
    MergedCount = "merged-count", Count;
    /// Those of them that are ages of arrivals without a commit.
    MergedCensored = "merged-censored", Count;
    /// Mean of all of them.
    MergedMean = "merged-mean", Milliseconds;
    /// Their standard deviation.
    MergedDeviation = "merged-deviation", Milliseconds;
    /// The shortest.
    MergedMin = "merged-min", Milliseconds;
    /// Median of the merged distribution. A percentile is absent if fewer than ten values lie
    /// beyond it.
    MergedP50 = "merged-p50", Milliseconds;
    /// 70th percentile.
    MergedP70 = "merged-p70", Milliseconds;
    /// 80th percentile.
    MergedP80 = "merged-p80", Milliseconds;
    /// 90th percentile.
    MergedP90 = "merged-p90", Milliseconds;
    /// 95th percentile.
    MergedP95 = "merged-p95", Milliseconds;
    /// 99th percentile.
    MergedP99 = "merged-p99", Milliseconds;
    /// 99.9th percentile.
    MergedP999 = "merged-p99.9", Milliseconds;
    /// The longest.
    MergedMax = "merged-max", Milliseconds;
    /// After faults: longest time without a commit of any client, median of the trials.
    Outage = "outage", Seconds;
    /// The longest of all trials.
    OutageMax = "outage-max", Seconds;
    /// After faults: time until throughput had recovered, median of the trials in which it did.
    Recovered = "recovered", Seconds;
    /// The longest of them.
    RecoveredMax = "recovered-max", Seconds;
    /// Trials in which throughput had not recovered when measuring ended.
    NotRecovered = "not-recovered", Count;
    /// Work that was not done meanwhile, as seconds of the throughput before; median.
    Missed = "missed", Seconds;
    /// Longest response time of a committed transaction, median of the trials.
    Slowest = "slowest", Seconds;
    /// The longest of all trials.
    SlowestMax = "slowest-max", Seconds;
    /// Transactions given up in trials with faults.
    FailedAfterFault = "failed-after-fault", Count;
    /// New connections of clients in trials with faults.
    Reconnects = "reconnects", Count;
    /// Errors of a kind from the first fault on.
    Errors = "errors", Count;
    /// Start of the first interval that has one, after the fault.
    ErrorsFirst = "errors-first", Seconds;
    /// End of the last interval that has one.
    ErrorsLast = "errors-last", Seconds;
    /// Most of them in one interval of one trial.
    ErrorsMost = "errors-most", Count;
    /// Start of that interval.
    ErrorsMostAt = "errors-most-at", Seconds;
    /// Worker threads of the generator.
    Workers = "workers", Count;
    /// CPU use of the busiest worker of all trials, in percent of one core.
    WorkerCpu = "worker-cpu", Percent;
    /// Share of its window for which a worker was stalled; maximum over workers and trials.
    Stalled = "stalled", Percent;
    /// The generator's CPU time in user mode per statement. With embedded SQLite it includes the
    /// database's work.
    CpuUserPerStatement = "cpu-user-per-statement", Microseconds;
    /// The generator's CPU time in the kernel per statement.
    CpuSystemPerStatement = "cpu-system-per-statement", Microseconds;
    /// 99th percentile of the wake-up lag, how late the generator's timers fired; the largest of
    /// all trials.
    WakeupLag = "wakeup-lag", Milliseconds;
    /// Statements per wake-up of a worker.
    StatementsPerWakeup = "statements-per-wakeup", Count;
    /// Peak resident memory of the generator.
    GeneratorMemory = "generator-memory", Bytes;
    /// Open loop: 99th percentile of the start lag, how late transactions began although a client
    /// was free; the largest of all trials.
    Lag = "lag", Milliseconds;
    /// How exactly the clock of one of several generators was known during a trial, the largest of
    /// all trials.
    ClockUncertainty = "clock-uncertainty", Milliseconds;
    /// CPU time of the machine in which something ran, in percent of all processors.
    HostCpu = "cpu", Percent;
    /// CPU time in user mode, with that of niced programs.
    CpuUser = "cpu-user", Percent;
    /// CPU time in the kernel, with interrupts.
    CpuSystem = "cpu-system", Percent;
    /// Idle time while something waited for a device.
    CpuIowait = "cpu-iowait", Percent;
    /// CPU time taken by other guests of the host.
    CpuSteal = "cpu-steal", Percent;
    /// CPU time of the server's processes, in percent of all processors.
    ServerCpu = "server-cpu", Percent;
    /// The same as a number of busy processors.
    ServerProcessors = "server-processors", Count;
    /// Processors that the generator kept busy, the monitor included.
    GeneratorProcessors = "generator-processors", Count;
    /// CPU time of the server per committed transaction.
    ServerCpuPerTransaction = "server-cpu-per-transaction", Microseconds;
    /// CPU time of the generator per committed transaction.
    GeneratorCpuPerTransaction = "generator-cpu-per-transaction", Microseconds;
    /// Context switches of the server's threads per committed transaction.
    ServerSwitchesPerTransaction = "server-switches-per-transaction", Count;
    /// Bytes that the server read from devices, per committed transaction.
    ServerReadPerTransaction = "server-read-per-transaction", Bytes;
    /// Bytes that the server wrote to devices, per committed transaction.
    ServerWrittenPerTransaction = "server-written-per-transaction", Bytes;
    /// Resident memory of the server's processes.
    ServerMemory = "server-memory", Bytes;
    /// Threads of the server's processes.
    ServerThreads = "server-threads", Count;
    /// Share of the time in which the busiest block device had a request.
    DiskBusy = "disk-busy", Percent;
    /// Its mean number of requests, waiting and in service.
    DiskQueue = "disk-queue", Count;
    /// Bytes read from it per second.
    DiskRead = "disk-read-per-second", Bytes;
    /// Bytes written to it per second.
    DiskWritten = "disk-written-per-second", Bytes;
    /// Share of the time in which some runnable task waited for a processor.
    CpuPressure = "cpu-pressure", Percent;
    /// Share of the time in which some task waited for a device.
    IoPressure = "io-pressure", Percent;
    /// Share of the time in which some task waited for memory.
    MemoryPressure = "memory-pressure", Percent;
    /// CPU time of the monitor and of its queries in the server, in percent of one processor.
    Monitor = "monitor", Percent;
    /// Size of the server's data files at the end of a step.
    Data = "data", Bytes;
}

impl Metric {
    /// True if any value above 0 indicates a problem.
    #[must_use]
    pub fn is_problem(self) -> bool {
        matches!(
            self,
            Self::NotCommitted | Self::Failed | Self::Lost | Self::LostPercent | Self::NotRecovered
        )
    }
}

impl From<ComparisonMetric> for Metric {
    fn from(metric: ComparisonMetric) -> Self {
        match metric {
            ComparisonMetric::Throughput => Self::Throughput,
            ComparisonMetric::MeanMs => Self::Mean,
            ComparisonMetric::P50Ms => Self::P50,
            ComparisonMetric::P90Ms => Self::P90,
            ComparisonMetric::P95Ms => Self::P95,
            ComparisonMetric::P99Ms => Self::P99,
            ComparisonMetric::P999Ms => Self::P999,
            ComparisonMetric::MaxMs => Self::Max,
            ComparisonMetric::HighestRate => Self::HighestRate,
            ComparisonMetric::MostClients => Self::MostClients,
        }
    }
}
