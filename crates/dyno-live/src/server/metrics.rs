//! The figures of the current trial in the text format of OpenMetrics 1.0
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).

use crate::state::{BUCKETS_S, State, Status};
use dyno_model::event::Phase;
use std::fmt::{Display, Write};
use std::time::Duration;

/// Content type of the format.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Families of metrics: name, type, unit and meaning.
const FAMILIES: [(&str, &str, &str, &str); 13] = [
    ("dyno_run", "info", "", "The experiment"),
    ("dyno_trial", "info", "", "The current trial, or the last one"),
    ("dyno_phase", "stateset", "", "Phase of the current trial"),
    ("dyno_trials_finished", "gauge", "", "Trials that are over"),
    ("dyno_trials_planned", "gauge", "", "Trials of the plan"),
    ("dyno_time_left_seconds", "gauge", "seconds", "Estimated time until the run ends"),
    (
        "dyno_transaction_duration_seconds",
        "histogram",
        "seconds",
        "Response times of committed transactions of the trial, warm-up included",
    ),
    ("dyno_transactions_failed", "counter", "", "Failed transactions of the trial"),
    ("dyno_retries", "counter", "", "Retries of the trial"),
    ("dyno_errors", "counter", "", "Errors of the trial by kind"),
    ("dyno_arrivals_waiting", "gauge", "", "Arrivals of an open loop that have not started"),
    ("dyno_generator_cpus", "gauge", "", "CPUs used by the load generator"),
    ("dyno_server_cpus", "gauge", "", "CPUs used by the processes of the server"),
];

/// Names of all samples, for dashboards.
pub const NAMES: [&str; 15] = [
    "dyno_run_info",
    "dyno_trial_info",
    "dyno_phase",
    "dyno_trials_finished",
    "dyno_trials_planned",
    "dyno_time_left_seconds",
    "dyno_transaction_duration_seconds_bucket",
    "dyno_transaction_duration_seconds_count",
    "dyno_transaction_duration_seconds_sum",
    "dyno_transactions_failed_total",
    "dyno_retries_total",
    "dyno_errors_total",
    "dyno_arrivals_waiting",
    "dyno_generator_cpus",
    "dyno_server_cpus",
];

/// Writes samples, each under its family.
struct Exposition {
    text: String,
    family: Option<&'static str>,
}

impl Exposition {
    /// A sample of a family; `suffix` completes its name.
    fn sample(&mut self, family: &str, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let known = FAMILIES.iter().find(|(name, ..)| *name == family);
        let (name, kind, unit, help) = known.expect("every family is declared");
        if self.family != Some(name) {
            self.family = Some(name);
            let _ = writeln!(self.text, "# TYPE {name} {kind}");
            if !unit.is_empty() {
                let _ = writeln!(self.text, "# UNIT {name} {unit}");
            }
            let _ = writeln!(self.text, "# HELP {name} {help}.");
        }
        let _ = write!(self.text, "{name}{suffix}");
        for (i, (label, value)) in labels.iter().enumerate() {
            let open = if i == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{open}{label}=\"{}\"", escaped(value));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{close} {value}");
    }
}

/// A label's value as the format escapes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// All metrics.
pub(super) fn expose(state: &State, now: Duration) -> String {
    let (campaign, totals, cpus) = (state.campaign(), state.totals(), state.cpus());
    let plan = campaign.plan();
    let mut out = Exposition { text: String::new(), family: None };
    out.sample("dyno_run", "_info", &[("experiment", &plan.name), ("title", &state.title())], 1);
    // Samples of a trial have its labels, so that the next trial begins new series.
    let begun = |status: &Status| *status != Status::Waiting;
    let position = campaign.current().map(|current| current.position);
    if let Some(position) = position.or_else(|| state.trials().iter().rposition(begun)) {
        let trial = &plan.trials[position];
        let configuration = plan.configuration(trial);
        let system = plan.systems[configuration.system].name.as_str();
        let (block, clients) = (trial.block.to_string(), configuration.clients.to_string());
        let name = dyno_report::configuration_name(plan, configuration, state.lang());
        let id = trial.id.as_str();
        let trial = [("trial", id), ("system", system), ("clients", &clients)];
        let mut info = trial.to_vec();
        info.extend([("block", block.as_str()), ("configuration", name.as_str())]);
        out.sample("dyno_trial", "_info", &info, 1);
        let with = |label: (&'static str, &'static str)| {
            let mut labels = trial.to_vec();
            labels.push(label);
            labels
        };
        let phase = campaign.current().and_then(crate::campaign::Current::phase);
        for known in Phase::ALL {
            let is_on = u8::from(phase == Some(known));
            out.sample("dyno_phase", "", &with(("dyno_phase", known.name())), is_on);
        }
        let family = "dyno_transaction_duration_seconds";
        let mut count = 0;
        for (i, in_bucket) in totals.buckets.iter().enumerate() {
            count += in_bucket;
            let bound = BUCKETS_S.get(i).map_or_else(|| "+Inf".to_owned(), |it| format!("{it:?}"));
            let mut labels = trial.to_vec();
            labels.push(("le", &bound));
            out.sample(family, "_bucket", &labels, count);
        }
        out.sample(family, "_count", &trial, count);
        out.sample(family, "_sum", &trial, totals.response_s);
        out.sample("dyno_transactions_failed", "_total", &trial, totals.failed);
        out.sample("dyno_retries", "_total", &trial, totals.retries);
        for (kind, count) in state.errors() {
            out.sample("dyno_errors", "_total", &with(("kind", kind.name())), count);
        }
        out.sample("dyno_arrivals_waiting", "", &trial, state.queue());
        for (family, value) in
            [("dyno_generator_cpus", cpus.generator), ("dyno_server_cpus", cpus.server)]
        {
            if let Some(value) = value {
                out.sample(family, "", &trial, value);
            }
        }
    }
    out.sample("dyno_trials_finished", "", &[], campaign.done());
    out.sample("dyno_trials_planned", "", &[], plan.trials.len());
    let left = if state.is_over() { 0.0 } else { campaign.left(now).as_secs_f64() };
    out.sample("dyno_time_left_seconds", "", &[], left);
    out.text.push_str("# EOF\n");
    out.text
}
