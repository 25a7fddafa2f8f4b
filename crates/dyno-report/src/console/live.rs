//! Words and figures of the live views of a run: the terminal, the page in a browser, and the list
//! of finished runs.

use super::progress::{configuration, duration, per_second};
use crate::messages::{Lang, Message, fill, live as words, warning::sentence};
use dyno_model::plan::{Configuration, Plan};
use dyno_model::warning::Warning;
use std::time::Duration;

/// Declares the words that other crates may show, each with its name in JSON.
macro_rules! labels {
    ($($name:ident $key:literal $message:ident: $doc:literal;)+) => {
        /// A word or heading of the live views.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LiveLabel { $(#[doc = $doc] $name),+ }

        impl LiveLabel {
            /// All of them, with their names in JSON.
            pub const ALL: &[(&str, Self)] = &[$(($key, Self::$name)),+];

            fn message(self) -> Message {
                match self { $(Self::$name => words::$message),+ }
            }
        }
    };
}

labels! {
    Throughput "throughput" THROUGHPUT: "Heading of throughput, with its unit.";
    P99 "p99" P99: "Heading of the 99th percentile, with its unit.";
    Errors "errors" ERRORS: "Heading of the errors of the current trial.";
    None "none" NONE: "There are none.";
    GeneratorCpu "generator_cpu" GENERATOR_CPU: "CPUs that the load generator uses.";
    ServerCpu "server_cpu" SERVER_CPU: "CPUs that the server uses.";
    Queue "queue" QUEUE: "Arrivals of an open loop that are due and have not started.";
    Warnings "warnings" WARNINGS: "Heading of warnings.";
    Log "log" LOG: "Heading of what happened.";
    Trials "trials" TRIALS: "Heading of the trials.";
    Trial "trial" TRIAL: "Heading of a column with trials.";
    Status "status" STATUS: "Heading of a column with states.";
    NoFigures "no_figures" NO_FIGURES: "No interval has ended yet.";
    Waiting "waiting" WAITING: "State of a trial that has not started.";
    Running "running" RUNNING: "State of the current trial.";
    Measured "measured" MEASURED: "State of a trial with results.";
    Failed "failed" FAILED: "State of a trial without results.";
    NotValid "not_valid" NOT_VALID: "State of a trial whose results are not valid.";
    Ended "ended" ENDED: "The run has ended.";
    Disconnected "disconnected" DISCONNECTED: "The page has lost its connection.";
    CurrentTrial "current_trial" CURRENT_TRIAL: "The link from a past trial to the current one.";
    Runs "runs" RUNS: "Heading of the list of runs.";
    Filter "filter" FILTER: "Field that filters the list.";
    Started "started" STARTED: "Heading of start times.";
    Experiment "experiment" EXPERIMENT: "Heading of titles of experiments.";
    ValidTrials "valid_trials" VALID_TRIALS: "Heading of numbers of valid trials.";
    CombinedReport "combined_report" COMBINED_REPORT: "Link to the report of several runs.";
    Base "base" BASE: "First side of a comparison.";
    New "new" NEW: "Second side of a comparison.";
    Compare "compare" COMPARE: "Button that compares two runs.";
}

/// The word in a language.
#[must_use]
pub fn live_label(label: LiveLabel, lang: Lang) -> &'static str {
    label.message().text(lang)
}

/// The largest value of a chart: `max 12,345`.
#[must_use]
pub fn live_max(value: &str, lang: Lang) -> String {
    fill!(words::MAX, lang, value)
}

/// Metrics could not be sent; `reason` begins with the address.
#[must_use]
pub fn metrics_not_sent(reason: &str, lang: Lang) -> String {
    fill!(words::METRICS_NOT_SENT, lang, reason)
}

/// Where a browser finds the list of runs.
#[must_use]
pub fn runs_at(address: &str, lang: Lang) -> String {
    fill!(words::RUNS_AT, lang, address)
}

/// Where a browser finds the live view.
#[must_use]
pub fn served_at(address: &str, lang: Lang) -> String {
    fill!(words::SERVED_AT, lang, address)
}

/// Transactions per second, with grouped thousands.
#[must_use]
pub fn live_rate(rate: f64) -> String {
    per_second(rate)
}

/// The message while no transaction commits.
#[must_use]
pub fn no_commits(silence: Duration, lang: Lang) -> String {
    fill!(words::NO_COMMITS, lang, duration = duration(silence, lang))
}

/// A warning as a sentence.
#[must_use]
pub fn warning(warning: &Warning, lang: Lang) -> String {
    sentence(warning, lang)
}

/// A configuration in one line: `MariaDB, 20 clients, variant = in-place`.
#[must_use]
pub fn configuration_name(plan: &Plan, of_plan: &Configuration, lang: Lang) -> String {
    configuration(plan, of_plan, lang)
}
