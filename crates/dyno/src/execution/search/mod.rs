//! Trials that search for the highest load a system sustains: [`SaturationSearch`] chooses the next
//! load, and this module measures it. Each load step is a separate trial with new connections and
//! with data prepared as for any trial, so that no queue of an earlier step remains. Only the last
//! step, which confirms the result, is recorded as the trial.

use crate::data::Missing;
use dyno_model::event::{Event, Listener};
use dyno_model::history::History;
use dyno_model::monitor::MonitorSample;
use dyno_model::plan::{Configuration, LoadBy, StopRule, Trial};
use dyno_model::reason::Reason;
use dyno_model::record::{IntervalRecord, TrialEnd, TrialRecord};
use dyno_model::response::Responses;
use dyno_model::search::evidence::{Evidence, slow};
use dyno_model::search::{
    Lengths, Next, Observed, SaturationSearch, Search, SearchEnd, StepLengths,
};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use std::collections::BTreeMap;
use std::sync::Arc;

type Measure<'m> =
    dyn FnMut(&Trial, &Configuration, &mut dyn Listener) -> Result<TrialRecord, Missing> + 'm;

#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// The last result, by configuration: the next block starts near it.
    found: BTreeMap<usize, f64>,
}

impl Searches {
    /// Searches for the highest load of a configuration.
    ///
    /// # Errors
    /// When a step cannot be measured to its end, or when the search finds no load. Only the step
    /// that is kept has files, so any other that ends early leaves no record.
    pub(crate) fn run(
        &mut self,
        search: &Search,
        trial: &Trial,
        configuration: &Configuration,
        listener: &mut dyn Listener,
        metric: &mut Measure<'_>,
    ) -> Result<TrialRecord, Missing> {
        let lengths = match configuration.load.stop {
            StopRule::Duration(duration) => Lengths::new(configuration.load.warmup, duration),
            _ => unreachable!("a search has a duration"),
        };
        let mut state = SaturationSearch::new(search.clone(), configuration.clients, lengths);
        if let Some(found) = self.found.get(&trial.configuration) {
            state = state.near(*found);
        }
        let mut steps =
            Steps { search, trial, configuration, listener, metric, steps_run: 0, windows: 0 };
        let mut record = steps.until_over(&mut state)?;
        let result = state.into_record();
        let found = result.found();
        if found.is_none() && result.end != SearchEnd::Interrupted {
            return Err(Missing::Search(Box::new(result)));
        }
        if found.is_some() {
            self.found.extend(found.map(|found| (trial.configuration, found)));
            let (others, _) = result.disturbance();
            let is_reported =
                record.warnings.iter().any(|it| matches!(it, Warning::OtherProcessesCpu { .. }));
            if others > 0.0 && !is_reported {
                // The generator was busy while loads failed, but no longer in the step that is
                // kept.
                record
                    .warnings
                    .push(Warning::OtherProcessesCpu { share: others, processes: Vec::new() });
            }
        }
        record.search = Some(result);
        Ok(record)
    }
}

/// The measurements of a search.
struct Steps<'s, 'm> {
    search: &'s Search,
    trial: &'s Trial,
    configuration: &'s Configuration,
    listener: &'s mut dyn Listener,
    metric: &'s mut Measure<'m>,
    /// Load steps so far.
    steps_run: usize,
    /// Measurements so far.
    windows: usize,
}

impl Steps<'_, '_> {
    /// Measures the requested loads until the search ends, or the step that is kept is interrupted;
    /// returns the last record.
    fn until_over(&mut self, state: &mut SaturationSearch) -> Result<TrialRecord, Missing> {
        let mut last = TrialRecord::default();
        loop {
            let next = state.next();
            let (rate, clients, lengths) = match next {
                Next::Capacity(lengths) => (None, self.configuration.clients, lengths),
                Next::Alone(lengths) => (None, 1, lengths),
                Next::Load(load, lengths) | Next::Keep(load, lengths) => match self.search.most {
                    LoadBy::Rate => (Some(load), self.configuration.clients, lengths),
                    LoadBy::Clients => (None, load as u32, lengths),
                },
                Next::Over => return Ok(last),
            };
            let is_kept = matches!(next, Next::Keep(..));
            let responses;
            (last, responses) = self.measure_step(rate, clients, lengths, is_kept)?;
            if last.is_cut_short() {
                return if is_kept { Ok(last) } else { Err(abandoned(&last)) };
            }
            match next {
                Next::Capacity(_) => state.take_capacity(last.throughput()),
                Next::Alone(_) => state.take_alone(&self.observed(&last, responses)),
                _ if self.take(state, &last, responses, is_kept) => return Ok(last),
                _ => {}
            }
        }
    }

    /// Passes a load step to the search; `true` when it is the one to keep.
    fn take(
        &mut self,
        state: &mut SaturationSearch,
        record: &TrialRecord,
        responses: Responses,
        is_kept: bool,
    ) -> bool {
        let is_over = state.take(&self.observed(record, responses));
        self.steps_run += 1;
        let step = state.last().expect("it was just taken").clone();
        let trial = self.trial.id.clone();
        self.listener.event(&Event::Stepped {
            trial: trial.clone(),
            step_number: self.steps_run,
            step,
        });
        if is_kept && !is_over {
            // Records already written for an earlier attempt do not count.
            self.listener.event(&Event::TrialStarted { trial });
        }
        is_over
    }

    /// Measures a load; also returns the response times of the transactions that the limit applies
    /// to.
    fn measure_step(
        &mut self,
        rate: Option<f64>,
        clients: u32,
        lengths: StepLengths,
        is_kept: bool,
    ) -> Result<(TrialRecord, Responses), Missing> {
        let nanos = |seconds: f64| Nanos((seconds * 1e9) as u64);
        let mut step_configuration = self.configuration.clone();
        step_configuration.clients = clients;
        step_configuration.load.rate = rate;
        step_configuration.load.find = None;
        step_configuration.load.warmup = nanos(lengths.warmup);
        step_configuration.load.stop = StopRule::Duration(nanos(lengths.seconds));
        step_configuration.load.time_limit = nanos(lengths.seconds);
        self.windows += 1;
        // Random values of a step depend on its id, so that no two steps do the same work.
        let id = if is_kept {
            self.trial.id.clone()
        } else {
            format!("{}-s{:02}", self.trial.id, self.windows)
        };
        let trial = Trial { id, ..self.trial.clone() };
        let name = self.search.transaction.as_deref();
        let mut heard = StepListener {
            listener: &mut *self.listener,
            is_kept,
            name,
            responses: Responses::default(),
        };
        let record = (self.metric)(&trial, &step_configuration, &mut heard)?;
        Ok((record, heard.responses))
    }

    fn observed(&self, record: &TrialRecord, responses: Responses) -> Observed {
        let is_limit = |warning: &Warning| {
            warning.is_of_generator() && warning.severity() == Severity::Invalid
        };
        let share = |of: fn(&Warning) -> Option<f64>| {
            record.warnings.iter().filter_map(of).fold(0.0, f64::max)
        };
        Observed {
            evidence: Evidence::of_trial(record, responses),
            throughput: record.throughput(),
            is_by_generator: record.warnings.iter().any(is_limit),
            other_processes_cpu: share(|warning| match warning {
                Warning::OtherProcessesCpu { share, .. } => Some(*share),
                _ => None,
            }),
            steal: share(|warning| match warning.of_any_generator() {
                Warning::Steal { share } => Some(*share),
                _ => None,
            }),
            slow: slow(self.search, record),
        }
    }
}

/// Why a step that is not kept ended early.
fn abandoned(record: &TrialRecord) -> Missing {
    let mut reasons = record.warnings.iter().filter_map(|warning| match warning {
        Warning::CutShort { reason } | Warning::SystemFailed { reason } => Some(reason.clone()),
        _ => None,
    });
    let reason = reasons.next().unwrap_or(Reason::Interrupted);
    match record.end {
        TrialEnd::User => Missing::Interrupted,
        TrialEnd::System => Missing::System(reason),
        TrialEnd::Trial => Missing::Trial(reason),
    }
}

/// Collects response times. It forwards events of a step only if they concern systems, or if the
/// step is the trial.
struct StepListener<'l> {
    listener: &'l mut dyn Listener,
    is_kept: bool,
    /// Name of the transactions that count; `None`: all.
    name: Option<&'l str>,
    responses: Responses,
}

impl StepListener<'_> {
    /// The listener for the trial's events.
    fn trial_listener(&mut self) -> Option<&mut dyn Listener> {
        match self.is_kept {
            true => Some(&mut *self.listener),
            false => None,
        }
    }
}

impl Listener for StepListener<'_> {
    fn event(&mut self, event: &Event) {
        let is_of_system = matches!(
            event,
            Event::SystemStarting { .. }
                | Event::SystemReady { .. }
                | Event::SystemStopped { .. }
                | Event::SystemFailed { .. }
                | Event::SettingsNoted { .. }
                | Event::RunWarning(_)
        );
        if self.is_kept || is_of_system {
            self.listener.event(event);
        }
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        if !interval.is_warmup {
            let named = || {
                interval.transactions.iter().filter(|(name, _)| Some(name.as_str()) == self.name)
            };
            let committed = match self.name {
                None => vec![&interval.response_times],
                Some(_) => named().map(|(_, histogram)| histogram).collect(),
            };
            for histogram in committed {
                // A resizing histogram accepts every value.
                let _ = self.responses.committed.add(histogram);
            }
            if let Some(censored) = interval.censored.as_ref().filter(|_| self.name.is_none()) {
                let _ = self.responses.censored.add(censored);
            }
        }
        if let Some(listener) = self.trial_listener() {
            listener.interval(interval);
        }
    }

    fn clients_begin(&mut self, from_now: Nanos) {
        if let Some(listener) = self.trial_listener() {
            listener.clients_begin(from_now);
        }
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        if let Some(listener) = self.trial_listener() {
            listener.commits_stopped(since);
        }
    }

    fn sample(&mut self, sample: &MonitorSample) {
        if let Some(listener) = self.trial_listener() {
            listener.sample(sample);
        }
    }

    fn history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        if let Some(listener) = self.trial_listener() {
            listener.history(trial, group, history);
        }
    }
}

#[cfg(test)]
mod tests;
