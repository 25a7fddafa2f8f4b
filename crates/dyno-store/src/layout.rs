//! Names of files and folders in a results folder.

/// File with the version of the formats.
pub const FORMAT_FILE: &str = "FORMAT";
/// The spec as written.
pub const SPEC_FILE: &str = "spec.toml";
/// The plan.
pub const PLAN_FILE: &str = "plan.json";
/// Machine and program.
pub const ENVIRONMENT_FILE: &str = "environment.json";
/// The event log.
pub const EVENTS_FILE: &str = "events.jsonl";
/// Figures of finished trials, derived from the event log.
pub const SUMMARY_FILE: &str = "summary.json";
/// Folder with a folder per trial.
pub const TRIALS_FOLDER: &str = "trials";
/// Interval histograms of a trial.
pub const LATENCY_FILE: &str = "latency.hlog";
/// Timeline of a trial.
pub const TIMELINE_FILE: &str = "timeline.csv";
/// Errors of a trial over time; exists only when errors occurred.
pub const ERRORS_FILE: &str = "errors.csv";
/// Samples of the machine, the server process and the server's counters.
pub const MONITOR_FILE: &str = "monitor.csv";
/// Samples of the server's sessions.
pub const SESSIONS_FILE: &str = "sessions.csv";
/// Reads and writes of a trial's clients, where the workload records a history.
pub const HISTORY_FILE: &str = "history.edn";
/// The secret key with which a run in a cluster has signed its tables; not part of the results.
pub const KEY_FILE: &str = ".key";
/// Folder with the logs of servers started by dyno.
pub const SERVER_LOGS_FOLDER: &str = "server-logs";

/// A name as a path component: letters, digits, `.`, `_` and `-` are kept, everything else becomes
/// `-`; never empty, and never a hidden or parent folder.
pub(crate) fn path_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let safe = safe.trim_start_matches('.');
    if safe.is_empty() { "unnamed".to_owned() } else { safe.to_owned() }
}
