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
/// Figures of finished trials, derived.
pub const SUMMARY_FILE: &str = "summary.json";
/// Folder with a folder per trial.
pub const TRIALS_FOLDER: &str = "trials";
/// Interval histograms of a trial.
pub const LATENCY_FILE: &str = "latency.hlog";
/// Course of a trial.
pub const TIMELINE_FILE: &str = "timeline.csv";
/// Errors in the course of a trial, where there were any.
pub const ERRORS_FILE: &str = "errors.csv";
/// What the monitor saw of machine, server process and server counters.
pub const MONITOR_FILE: &str = "monitor.csv";
/// What the monitor saw of the server's sessions.
pub const SESSIONS_FILE: &str = "sessions.csv";
/// What the clients of a trial read and wrote, where their workload keeps a history.
pub const HISTORY_FILE: &str = "history.edn";
/// Folder with the logs of servers that dyno started.
pub const SERVER_LOGS_FOLDER: &str = "server-logs";

/// A name as part of a path: letters, digits, `.`, `_` and `-` stay, everything else becomes `-`;
/// never empty, never a hidden or parent folder.
pub(crate) fn path_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let safe = safe.trim_start_matches('.');
    if safe.is_empty() { "unnamed".to_owned() } else { safe.to_owned() }
}
