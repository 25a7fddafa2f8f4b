//! What a script's own reports are given.

/// Which report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// `sysbench.hooks.report_intermediate`.
    Intermediate,
    /// `sysbench.hooks.report_cumulative`.
    Cumulative,
}

/// Which reports a script prints itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportHooks {
    /// `sysbench.hooks.report_intermediate` is set.
    pub intermediate: bool,
    /// `sysbench.hooks.report_cumulative` is set.
    pub cumulative: bool,
}

/// The table `stat` of a report hook.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportStat {
    /// Threads at work.
    pub threads_running: u32,
    /// Length of what the counts cover, in seconds.
    pub time_interval: f64,
    /// Time since the start, in seconds.
    pub time_total: f64,
    /// The percentile that was asked for, in seconds.
    pub latency_pct: f64,
    /// Shortest latency, in seconds; cumulative reports only.
    pub latency_min: f64,
    /// Longest latency, in seconds; cumulative reports only.
    pub latency_max: f64,
    /// Mean latency, in seconds; cumulative reports only.
    pub latency_avg: f64,
    /// Sum of latencies, in seconds; cumulative reports only.
    pub latency_sum: f64,
    /// Events.
    pub events: u64,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Other statements.
    pub other: u64,
    /// Ignored errors.
    pub errors: u64,
    /// Connections opened anew.
    pub reconnects: u64,
    /// Events due and not started; intermediate reports only.
    pub queue_length: u64,
    /// Events in progress; intermediate reports only.
    pub concurrency: u64,
}
