//! Names, types and values of all metrics.

use crate::campaign::Current;
use crate::state::{State, Status, Totals};
use dyno_model::event::Phase;
use std::time::Duration;

/// A metric: its name without the suffixes of samples, its type and unit, and its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) unit: &'static str,
    pub(super) help: &'static str,
}

/// Types of metrics, as OpenMetrics names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Info,
    StateSet,
    Gauge,
    Counter,
    Histogram,
}

const FAMILIES: [(&str, Kind, &str, &str); 13] = [
    ("dyno_run", Kind::Info, "", "The experiment"),
    ("dyno_trial", Kind::Info, "", "The current trial, or the last one"),
    ("dyno_phase", Kind::StateSet, "", "Phase of the current trial"),
    ("dyno_trials_finished", Kind::Gauge, "", "Trials that are over"),
    ("dyno_trials_planned", Kind::Gauge, "", "Trials of the plan"),
    ("dyno_time_left_seconds", Kind::Gauge, "seconds", "Estimated time until the run ends"),
    (
        "dyno_transaction_duration_seconds",
        Kind::Histogram,
        "seconds",
        "Response times of committed transactions of the trial, warm-up included",
    ),
    ("dyno_transactions_failed", Kind::Counter, "", "Failed transactions of the trial"),
    ("dyno_retries", Kind::Counter, "", "Retries of the trial"),
    ("dyno_errors", Kind::Counter, "", "Errors of the trial by kind"),
    ("dyno_arrivals_waiting", Kind::Gauge, "", "Arrivals of an open loop that have not started"),
    ("dyno_generator_cpus", Kind::Gauge, "", "CPUs used by the load generator"),
    ("dyno_server_cpus", Kind::Gauge, "", "CPUs used by the processes of the server"),
];

/// The values of a metric, each with its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    pub(super) family: Family,
    pub(super) values: Vec<(Labels, Value)>,
}

pub(super) type Labels = Vec<(&'static str, String)>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Count(u64),
    Number(f64),
    Histogram(Totals),
}

/// Collects values; those of a metric follow each other.
#[derive(Debug, Default)]
struct Collection(Vec<Collected>);

impl Collection {
    fn add(&mut self, family: &str, labels: &[(&'static str, &str)], value: Value) {
        let known = FAMILIES.into_iter().find(|(name, ..)| *name == family);
        let (name, kind, unit, help) = known.expect("every metric is declared");
        let labels = labels.iter().map(|(label, value)| (*label, (*value).to_owned())).collect();
        match self.0.last_mut().filter(|last| last.family.name == name) {
            Some(last) => last.values.push((labels, value)),
            None => {
                let family = Family { name, kind, unit, help };
                self.0.push(Collected { family, values: vec![(labels, value)] });
            }
        }
    }
}

/// All metrics that have values. It copies them, so that they are written without the lock.
#[must_use]
pub fn collect(state: &State, now: Duration) -> Vec<Collected> {
    let (campaign, totals, cpus) = (state.campaign(), state.totals(), state.cpus());
    let plan = campaign.plan();
    let mut all = Collection::default();
    let run = [("experiment", plan.name.as_str()), ("title", &state.title())];
    all.add("dyno_run", &run, Value::Count(1));
    // Samples of a trial have its labels, so that the next trial begins new series.
    let has_begun = |status: &Status| *status != Status::Waiting;
    let position = campaign.current().map(|current| current.position);
    if let Some(position) = position.or_else(|| state.trials().iter().rposition(has_begun)) {
        let trial = &plan.trials[position];
        let configuration = plan.configuration(trial);
        let system = plan.systems[configuration.system].name.as_str();
        let (block, clients) = (trial.block.to_string(), configuration.clients.to_string());
        let name = dyno_report::configuration_name(plan, configuration, state.lang());
        let trial = [("trial", trial.id.as_str()), ("system", system), ("clients", &clients)];
        let [id, system, clients] = trial;
        let info = [id, system, clients, ("block", &block), ("configuration", &name)];
        all.add("dyno_trial", &info, Value::Count(1));
        let phase = campaign.current().and_then(Current::phase);
        for known in Phase::ALL {
            let labels = [id, system, clients, ("dyno_phase", known.name())];
            all.add("dyno_phase", &labels, Value::Count(u64::from(phase == Some(known))));
        }
        let times = Value::Histogram(totals.clone());
        all.add("dyno_transaction_duration_seconds", &trial, times);
        all.add("dyno_transactions_failed", &trial, Value::Count(totals.failed));
        all.add("dyno_retries", &trial, Value::Count(totals.retries));
        for (kind, count) in state.errors() {
            let labels = [id, system, clients, ("kind", kind.name())];
            all.add("dyno_errors", &labels, Value::Count(*count));
        }
        all.add("dyno_arrivals_waiting", &trial, Value::Count(state.queue()));
        for (family, cpus) in
            [("dyno_generator_cpus", cpus.generator), ("dyno_server_cpus", cpus.server)]
        {
            if let Some(cpus) = cpus {
                all.add(family, &trial, Value::Number(cpus));
            }
        }
    }
    all.add("dyno_trials_finished", &[], Value::Count(campaign.done() as u64));
    all.add("dyno_trials_planned", &[], Value::Count(plan.trials.len() as u64));
    let left = if state.is_over() { 0.0 } else { campaign.left(now).as_secs_f64() };
    all.add("dyno_time_left_seconds", &[], Value::Number(left));
    all.0
}
