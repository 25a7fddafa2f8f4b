//! Progress of a run and its remaining time. Times are parameters.

use dyno_model::event::{Event, Phase};
use dyno_model::plan::Plan;
use dyno_model::record::{IntervalRecord, TrialEnd};
use dyno_model::spec::estimate;
use std::collections::BTreeSet;
use std::time::Duration;

/// The state of a run, derived from its events.
#[derive(Debug)]
pub struct Campaign {
    plan: Plan,
    /// Per configuration: planned duration of a trial.
    estimates: Vec<Duration>,
    /// Per configuration: total duration and number of its finished trials.
    spent: Vec<(Duration, u32)>,
    /// Finished or failed trials, by position in the run order.
    is_over: Vec<bool>,
    current: Option<Current>,
}

/// The current trial.
#[derive(Debug, Clone)]
pub struct Current {
    /// Position in the run order, from 0.
    pub position: usize,
    started: Duration,
    /// The current phase and its start, once a phase has started.
    phase: Option<(Phase, Duration)>,
    /// Completed share of the phase, 0 to 1, if the phase reports it.
    pub share: Option<f64>,
    /// Commits and seconds of the measured intervals so far.
    committed: u64,
    seconds: f64,
}

impl Current {
    /// Its phase, once one has started.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        self.phase.map(|(phase, _)| phase)
    }

    /// Transactions per second of the measured intervals so far.
    pub fn throughput(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.committed as f64 / self.seconds)
    }
}

impl Campaign {
    /// `done` are trials that were measured earlier and take no more time.
    pub fn new(plan: Plan, done: &BTreeSet<String>) -> Self {
        let estimates = plan
            .configurations
            .iter()
            .map(|configuration| estimate::trial(&plan, configuration).likely.into())
            .collect();
        let spent = vec![(Duration::ZERO, 0); plan.configurations.len()];
        let is_over = plan.trials.iter().map(|trial| done.contains(&trial.id)).collect();
        Self { plan, estimates, spent, is_over, current: None }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The current trial, if one is running.
    #[must_use]
    pub fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }

    /// Trials that are over.
    pub fn done(&self) -> usize {
        self.is_over.iter().filter(|is_over| **is_over).count()
    }

    /// Processes an event that occurred at `now` (since the run began).
    pub fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::TrialStarted { trial } => {
                let position = self.plan.trials.iter().position(|other| other.id == *trial);
                // A search restarts its trial for each load that it may keep.
                let earlier =
                    self.current.as_ref().filter(|current| Some(current.position) == position);
                let started = earlier.map_or(now, |current| current.started);
                self.current = position.map(|position| Current {
                    position,
                    started,
                    phase: None,
                    share: None,
                    committed: 0,
                    seconds: 0.0,
                });
            }
            Event::PhaseStarted { phase, .. } => {
                if let Some(current) = &mut self.current {
                    current.phase = Some((*phase, now));
                    current.share = None;
                }
            }
            Event::Progress { done, total, .. } => {
                if let Some(current) = &mut self.current {
                    current.share = (*total > 0).then(|| (*done as f64 / *total as f64).min(1.0));
                }
            }
            // A resumed run measures it again.
            Event::TrialFinished(record) if record.end == TrialEnd::User => self.current = None,
            Event::TrialFinished(record) => self.end(&record.trial.id, Some(now)),
            // A failed trial does not predict the duration of others, unless its search ended
            // without a load.
            Event::TrialFailed { trial, search, .. } => {
                self.end(trial, search.is_some().then_some(now));
            }
            _ => {}
        }
    }

    /// Processes an interval of the current trial.
    pub fn interval(&mut self, interval: &IntervalRecord) {
        if let Some(current) = &mut self.current
            && !interval.is_warmup
        {
            current.committed += interval.response_times.len();
            current.seconds += interval.length.as_secs_f64();
        }
    }

    fn end(&mut self, id: &str, measured_until: Option<Duration>) {
        let Some(position) = self.plan.trials.iter().position(|trial| trial.id == id) else {
            return;
        };
        self.is_over[position] = true;
        if let Some(current) = self.current.take_if(|current| current.position == position)
            && let Some(until) = measured_until
        {
            let (sum, count) = &mut self.spent[self.plan.trials[position].configuration];
            *sum += until.saturating_sub(current.started);
            *count += 1;
        }
    }

    /// Completed share of the whole run, 0 to 1, by expected time.
    pub fn share(&self, now: Duration) -> f64 {
        let left = self.left(now).as_secs_f64();
        let whole = now.as_secs_f64() + left;
        if whole > 0.0 { now.as_secs_f64() / whole } else { 0.0 }
    }

    /// Expected time for the rest of the current trial and all later ones.
    pub fn left(&self, now: Duration) -> Duration {
        let waiting = self
            .plan
            .trials
            .iter()
            .zip(&self.is_over)
            .enumerate()
            .filter(|(_, (_, is_over))| !**is_over);
        let mut left = Duration::ZERO;
        for (position, (trial, _)) in waiting {
            let expected = self.expected(trial.configuration);
            left += match &self.current {
                Some(current) if current.position == position => {
                    let elapsed = now.saturating_sub(current.started);
                    let projected = current.projected(now, self.estimates[trial.configuration]);
                    // The projection for a search covers only the current load step; more may
                    // follow.
                    let is_search =
                        self.plan.configurations[trial.configuration].load.find.is_some();
                    let least = if is_search { expected } else { Duration::ZERO };
                    projected.unwrap_or(expected).max(least).saturating_sub(elapsed)
                }
                _ => expected,
            };
        }
        left
    }

    /// Expected duration of a trial of a configuration: the mean of its earlier trials, or else the
    /// plan's estimate, scaled by the ratio of actual to estimated durations so far.
    fn expected(&self, configuration: usize) -> Duration {
        let (sum, count) = self.spent[configuration];
        if count > 0 {
            return sum / count;
        }
        let (mut spent, mut estimated) = (Duration::ZERO, Duration::ZERO);
        for ((sum, count), estimate) in self.spent.iter().zip(&self.estimates) {
            spent += *sum;
            estimated += *estimate * *count;
        }
        let correction =
            if estimated.is_zero() { 1.0 } else { spent.as_secs_f64() / estimated.as_secs_f64() };
        self.estimates[configuration].mul_f64(correction)
    }
}

impl Current {
    /// Projected duration of the trial at the present progress; `None` until a tenth of its phase
    /// is complete. The plan's estimate of a trial does not include loading.
    fn projected(&self, now: Duration, estimate: Duration) -> Option<Duration> {
        let (phase, began) = self.phase?;
        let later = match phase {
            Phase::Load => estimate,
            Phase::Measure => Duration::ZERO,
            _ => return None,
        };
        let share = self.share.filter(|share| *share > 0.1)?;
        let whole = now.saturating_sub(began).div_f64(share);
        Some(began.saturating_sub(self.started) + whole + later)
    }
}

#[cfg(test)]
pub(crate) mod tests;
