//! Search algorithm: chooses the next load and the length of its step.
//!
//! A search for a rate starts from a short measurement in a closed loop, whose throughput the rate
//! can hardly exceed. Loads rise until one fails, or fall until one passes; then the gap between
//! the two is halved (on a logarithmic scale) until it is [`PRECISION`]. Far from the result, steps
//! are short and only clear results count; near it they take half of the requested time, and the
//! final load takes all of it. Single steps are unreliable: one may coincide with a checkpoint,
//! another may pass by chance. Therefore all steps at a load count, weighted by their length, and
//! not only the last one: the gap is placed where the least time contradicts it, its upper end
//! needs two failed steps nearby, and a step of full length must pass, as the trial whose figures
//! are kept: at the lower end, at the last load between the two once the upper end is sure, or for
//! a mean slightly below the estimated result.
//!
//! A step in which the load generator was at its limit decides nothing unless it passed. It is
//! repeated, and then the load counts as out of reach. A step that lost too much CPU time to other
//! guests (steal) decides nothing unless it passed, and is not kept. It is repeated as well, a
//! limited number of times.

use super::evidence::{Evidence, Judged};
use super::lengths::{Lengths, StepLengths};
use crate::limit::LimitMetric;
use crate::plan::LoadBy;
use crate::search_question::{
    LoadStep, NEIGHBOUR, Outcome, PRECISION, STEPS_MAX, Search, SearchEnd, SearchRecord, Slow,
    crossing,
};
use crate::warning::{Severity, Warning};

/// Maximum factor between consecutive loads while only one end is known.
const FACTOR_MAX: f64 = 2.0;
/// The first change of the load.
const FACTOR_FIRST: f64 = 1.25;
/// Ratio of the first rate to the throughput of the closed loop.
const OF_CAPACITY: f64 = 0.8;
/// Ratio of the load that is kept to the one at which a mean is expected to meet the limit ...
const MARGIN: f64 = 0.99;
/// ... and the maximum ratio of the highest load that passed to it.
const MARGIN_MAX: f64 = 1.05;
/// Ends closer together than this are measured by fine steps.
const FINE: f64 = 1.15;
/// Number of steps at a load with the generator at its limit, after which the load counts as out of
/// reach.
const GENERATOR_STEPS: usize = 3;
/// Number of loads out of reach after which a search ends.
const GENERATOR_LOADS: usize = 2;
/// Maximum number of steps of a search that are repeated because of steal that would make a trial
/// invalid.
const STOLEN_STEPS: usize = 5;
/// Range of loads.
const RATES: (f64, f64) = (0.1, 1e7);
const CLIENTS_MIN: f64 = 1.0;

/// The next measurement of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// All clients in a closed loop, to find a starting point: [`SaturationSearch::take_capacity`].
    Capacity(StepLengths),
    /// One client in a closed loop: whether any load can pass. [`SaturationSearch::take_alone`].
    Alone(StepLengths),
    /// A load: [`SaturationSearch::take`].
    Load(f64, StepLengths),
    /// A load that is likely to pass, usually the highest that passed; if it passes, the search
    /// ends, and the figures of this step are kept: [`SaturationSearch::take`].
    Keep(f64, StepLengths),
    /// None: the search ended without a step to keep.
    Over,
}

/// Knowledge about loads above the highest load that passed.
enum Upper {
    /// None.
    Open,
    /// The lowest load that fails.
    Failed(f64),
    /// The lowest load that the generator cannot produce.
    OutOfReach(f64),
}

/// Results of a window.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Evidence for the outcome.
    pub evidence: Evidence,
    /// Committed transactions per second.
    pub throughput: f64,
    /// True when the load generator was at its limit.
    pub is_by_generator: bool,
    /// Same as [`LoadStep::other_processes_cpu`].
    pub other_processes_cpu: f64,
    /// Same as [`LoadStep::steal`].
    pub steal: f64,
    /// Transactions that exceed the limit without any other load, if known.
    pub slow: Option<Slow>,
}

/// The state of a search.
#[derive(Debug, Clone)]
pub struct SaturationSearch {
    search: Search,
    lengths: Lengths,
    /// Lowest and highest load of the search.
    range: (f64, f64),
    /// Starting load; `None` before the closed loop was measured.
    start: Option<f64>,
    /// True when it starts near the result of an earlier search.
    is_near: bool,
    steps: Vec<LoadStep>,
    /// Evidence at the load of the last step, while it is undecided.
    evidence: Evidence,
    /// Factor between consecutive loads while only one end is known.
    factor: f64,
    /// Measured time of all windows, in seconds.
    spent: f64,
    /// Throughput of one client alone if it passes the limit; 0 if unknown.
    alone: Option<f64>,
    /// Number of measurements in which one client alone failed the limit.
    alone_failed: u32,
    /// Steps that are repeated because of steal.
    stolen: usize,
    end: Option<SearchEnd>,
}

impl SaturationSearch {
    /// Starts at the load that the search specifies. `clients` is the number of clients of the
    /// configuration, which is the maximum.
    #[must_use]
    pub fn new(search: Search, clients: u32, lengths: Lengths) -> Self {
        let range = match search.most {
            LoadBy::Rate => RATES,
            LoadBy::Clients => (CLIENTS_MIN, clients.into()),
        };
        let start = search.from.or((search.most == LoadBy::Clients).then_some(CLIENTS_MIN));
        let factor =
            if search.from.is_some() || start.is_some() { FACTOR_MAX } else { FACTOR_FIRST };
        Self {
            search,
            lengths,
            range,
            start,
            is_near: false,
            steps: Vec::new(),
            evidence: Evidence::default(),
            factor,
            spent: 0.0,
            alone: None,
            alone_failed: 0,
            stolen: 0,
            end: None,
        }
    }

    /// Starts near the result of another search of the same configuration, with small steps at
    /// first.
    #[must_use]
    pub fn near(self, found: f64) -> Self {
        Self { start: Some(found), is_near: true, factor: PRECISION, ..self }
    }

    /// The next measurement.
    #[must_use]
    pub fn next(&self) -> Next {
        if self.end.is_some() {
            return Next::Over;
        }
        let Some(start) = self.start else {
            return Next::Capacity(self.lengths.window(self.lengths.coarse()));
        };
        if let Some(again) = self.again() {
            return again;
        }
        match (self.passed(), self.upper()) {
            (Some(passed), _) if self.steps.len() + 1 == STEPS_MAX => self.keep(passed),
            (None, Upper::Open) => self.load(self.enough(start)),
            (None, Upper::OutOfReach(load)) => self.load(self.at(load / FACTOR_MAX.powi(2))),
            (None, Upper::Failed(_)) if self.needs_alone() => self.alone_window(),
            (None, Upper::Failed(failed)) => self.load(self.below(failed)),
            (Some(passed), Upper::OutOfReach(load)) => match self.is_near_reach(passed, load) {
                true => self.keep(passed),
                false => self.load(self.at((passed * load).sqrt())),
            },
            (Some(passed), Upper::Open) if passed >= self.range.1 => self.keep(passed),
            (Some(passed), Upper::Open) => self.load(self.above(passed)),
            (Some(passed), Upper::Failed(failed)) => {
                match (self.between(passed, failed), self.is_sure(failed)) {
                    // The last one: if it passes, it can be kept.
                    (Some(middle), true)
                        if self.between(passed, middle).is_none()
                            && self.between(middle, failed).is_none() =>
                    {
                        self.keep(middle)
                    }
                    (Some(middle), _) => self.load(middle),
                    (None, false) => self.load(failed),
                    (None, true) => self.keep(self.likely(passed, failed)),
                }
            }
        }
    }

    fn passed(&self) -> Option<f64> {
        self.gap().0
    }

    /// Knowledge about loads above the highest load that passed.
    fn upper(&self) -> Upper {
        let (passed, failed) = self.gap();
        let is_between = |load: &f64| {
            *load > passed.unwrap_or(0.0) && failed.is_none_or(|failed| *load < failed)
        };
        match (self.out_of_reach().find(is_between), failed) {
            (Some(load), _) => Upper::OutOfReach(load),
            (None, Some(failed)) => Upper::Failed(failed),
            (None, None) => Upper::Open,
        }
    }

    /// An extension of the last step, if it decided nothing.
    fn again(&self) -> Option<Next> {
        let last = self.steps.last()?;
        (last.outcome == Outcome::Open).then(|| Next::Load(last.load, self.more(last.transactions)))
    }

    /// Length of a repeated measurement of a load that had too few transactions so far.
    fn more(&self, transactions: u64) -> StepLengths {
        let Lengths { full, .. } = self.lengths;
        let spent = self.evidence.seconds;
        let judged = self.evidence.judge(&self.search);
        let needed =
            if judged.outcome == Outcome::Open { judged.needed } else { judged.sound } as f64;
        let total = match transactions {
            0 => 3.0 * spent,
            some => spent * 1.1 * needed / some as f64,
        };
        // A mean far from the limit needs no fine step.
        let is_far = judged.outcome == Outcome::Open && self.search.metric == LimitMetric::Mean;
        let least = if is_far { 0.0 } else { self.fine() };
        // In parts: a load that fails may show it early.
        let more = (total - spent).min(full.seconds.max(3.0 * spent)).max(least - spent);
        let left = self.lengths.cap() - spent;
        self.lengths.window(more.max(self.lengths.coarse()).min(left.max(0.1)))
    }

    fn alone_window(&self) -> Next {
        let spent = self.evidence.seconds;
        let window = match spent > 0.0 {
            true => self.more(self.evidence.responses.count()),
            false => self.lengths.window(self.lengths.coarse()),
        };
        Next::Alone(window)
    }

    /// Length of a fine step: long enough for an overload of [`PRECISION`] to grow into a wait as
    /// long as the limit, unless that takes more than twice the requested time.
    fn fine(&self) -> f64 {
        let growth = match self.search.metric {
            LimitMetric::Failed => 0.0,
            _ => self.search.below / 1e3 / (PRECISION - 1.0),
        };
        self.lengths.fine().max(growth.min(2.0 * self.lengths.full.seconds))
    }

    fn load(&self, load: f64) -> Next {
        Next::Load(load, self.window(load))
    }

    /// A load that is likely to pass once more. Near the limit a mean fails about as often as it
    /// passes, because each transaction affects it, and times in a queue depend on each other.
    fn likely(&self, passed: f64, failed: f64) -> f64 {
        match self.search.metric {
            LimitMetric::Mean => {
                let met = crossing(&self.steps, passed, failed);
                self.at((MARGIN * met).clamp(passed / MARGIN_MAX, passed))
            }
            _ => passed,
        }
    }

    /// The requested time, or the time that it took to decide that a load near it passes.
    fn keep(&self, load: f64) -> Next {
        let near = load / NEIGHBOUR..=load * NEIGHBOUR;
        let has_passed = |step: &&LoadStep| step.outcome == Outcome::Passed;
        let took = self.steps.iter().filter(|step| near.contains(&step.load)).filter(has_passed);
        let took = took.map(|step| step.seconds).fold(self.seconds_needed(load), f64::max);
        Next::Keep(
            load,
            StepLengths {
                seconds: took.clamp(self.lengths.full.seconds, self.lengths.cap()),
                ..self.lengths.full
            },
        )
    }

    /// Initial length at a load: long enough for the number of transactions that a decision needs,
    /// but at most twice the requested time.
    fn window(&self, load: f64) -> StepLengths {
        let is_fine = self.is_near
            || matches!(self.gap(), (Some(passed), Some(failed)) if failed / passed <= FINE);
        let base = if is_fine { self.fine() } else { self.lengths.coarse() };
        self.lengths
            .window(base.max(self.seconds_needed(load).min(2.0 * self.lengths.full.seconds)))
    }

    /// Time until enough transactions have arrived.
    fn seconds_needed(&self, load: f64) -> f64 {
        match self.search.most {
            LoadBy::Rate => 1.1 * self.needed() / load,
            LoadBy::Clients => 0.0,
        }
    }

    /// Minimum number of transactions for a decision.
    fn needed(&self) -> f64 {
        Evidence::default().judge(&self.search).needed as f64
    }

    /// A first load at which enough transactions arrive in the requested time.
    fn enough(&self, start: f64) -> f64 {
        match self.search.most {
            LoadBy::Rate => self.at(start.max(1.1 * self.needed() / self.lengths.full.seconds)),
            LoadBy::Clients => self.at(start),
        }
    }

    /// Reports the throughput of the closed loop, in committed transactions per second.
    pub fn take_capacity(&mut self, throughput: f64) {
        let start = OF_CAPACITY * throughput;
        self.start = Some(if start > 0.0 { start } else { RATES.0 });
    }

    /// Reports the result of one client in a closed loop.
    pub fn take_alone(&mut self, observed: &Observed) {
        self.evidence.add(&observed.evidence);
        let judged = self.evidence.judge(&self.search);
        let is_decided = judged.outcome != Outcome::Open;
        if judged.outcome == Outcome::Failed && !observed.is_by_generator {
            self.alone_failed += 1;
            // A single failure may be a checkpoint.
            if self.alone_failed >= 2 {
                let slow = observed.slow.clone();
                self.end = Some(SearchEnd::FailsEverywhere { slow, failing: judged.failing });
            }
        } else if is_decided || self.is_exhausted(&self.evidence) {
            self.alone = Some(if is_decided { observed.throughput } else { 0.0 });
        } else {
            return;
        }
        self.evidence = Evidence::default();
    }

    /// Reports the result of the load that [`Self::next`] returned and records the step. Returns
    /// `true` when it is the step to keep.
    pub fn take(&mut self, observed: &Observed) -> bool {
        let (load, window, is_kept) = match self.next() {
            Next::Load(load, window) => (load, window, false),
            Next::Keep(load, window) => (load, window, true),
            Next::Capacity(_) | Next::Alone(_) | Next::Over => unreachable!("a load was asked for"),
        };
        let is_invalid = Warning::Steal { share: observed.steal }.severity() == Severity::Invalid;
        let is_stolen = is_invalid && self.stolen < STOLEN_STEPS;
        let step = self.judged(load, window, is_kept, is_stolen, observed);
        let outcome = step.outcome;
        let is_repeated = is_stolen && (is_kept || outcome == Outcome::Open);
        self.stolen += usize::from(is_repeated);
        self.spent += window.seconds;
        if step.is_decided() {
            self.widen();
        }
        self.steps.push(step);
        match outcome {
            Outcome::Open if self.is_exhausted(&self.evidence) => self.give_up(load),
            Outcome::Open => {}
            _ => self.evidence = Evidence::default(),
        }
        if is_kept && outcome == Outcome::Passed && !is_repeated {
            self.end = Some(self.reason());
            return true;
        }
        if self.end.is_none() {
            self.end = self.is_over(observed);
        }
        false
    }

    /// Outcome of a load. Results measured under steal do not affect later steps.
    fn judged(
        &mut self,
        load: f64,
        window: StepLengths,
        is_kept: bool,
        is_stolen: bool,
        observed: &Observed,
    ) -> LoadStep {
        let mut evidence = self.evidence.clone();
        evidence.add(&observed.evidence);
        let judged = evidence.judge(&self.search);
        let is_sound =
            evidence.seconds >= 0.99 * self.fine() && judged.transactions >= judged.sound;
        let is_long = is_kept || is_sound || self.is_exhausted(&evidence);
        let outcome = match judged.outcome {
            Outcome::Passed if is_long || judged.is_clear => Outcome::Passed,
            _ if observed.is_by_generator => Outcome::Generator,
            _ if is_stolen => Outcome::Open,
            Outcome::Failed if is_long || judged.is_clear => Outcome::Failed,
            _ => Outcome::Open,
        };
        if !is_stolen {
            self.evidence = evidence;
        }
        LoadStep {
            load,
            seconds: self.evidence.seconds.max(window.seconds),
            transactions: judged.transactions,
            figure: judged.figure,
            excess: judged.excess,
            is_bound: judged.is_bound,
            throughput: observed.throughput,
            outcome,
            is_by_generator: observed.is_by_generator,
            other_processes_cpu: observed.other_processes_cpu,
            steal: observed.steal,
        }
    }

    /// Factor to the next load, while only one end is known.
    fn widen(&mut self) {
        let (passed, failed) = self.gap();
        if passed.is_some() && failed.is_some() {
            // If one of the ends passed or failed by chance, the other side is near.
            self.factor = PRECISION;
        } else if self.steps.iter().any(LoadStep::is_decided) {
            self.factor = self.factor.powi(2).min(FACTOR_MAX);
        }
    }

    /// True when a load may not be measured any longer.
    fn is_exhausted(&self, evidence: &Evidence) -> bool {
        evidence.seconds >= 0.99 * self.lengths.cap() || self.spent >= self.lengths.most()
    }

    /// A load with too few transactions even at the maximum length.
    fn give_up(&mut self, load: f64) {
        let Judged { transactions, needed, .. } = self.evidence.judge(&self.search);
        self.end = Some(SearchEnd::TooFew { load, transactions, needed });
    }

    /// Why a search with a step to keep ended.
    fn reason(&self) -> SearchEnd {
        let passed = self.passed().unwrap_or_default();
        match self.upper() {
            Upper::Failed(failed) if failed / passed <= NEIGHBOUR => SearchEnd::Found,
            Upper::OutOfReach(_) => SearchEnd::Generator,
            Upper::Open if passed >= self.range.1 => SearchEnd::Highest,
            Upper::Failed(_) | Upper::Open => SearchEnd::Unsteady,
        }
    }

    /// Why a search ends without a step to keep.
    fn is_over(&self, observed: &Observed) -> Option<SearchEnd> {
        let last = self.steps.last()?;
        let is_out = |load: f64| self.generator_steps(load) >= GENERATOR_STEPS;
        match (self.passed(), self.upper()) {
            (None, Upper::Failed(failed)) if failed <= self.range.0 => {
                let failing = observed.evidence.judge(&self.search).failing;
                Some(SearchEnd::FailsEverywhere { slow: observed.slow.clone(), failing })
            }
            (None, Upper::OutOfReach(_)) if self.out_of_reach().count() >= GENERATOR_LOADS => {
                Some(SearchEnd::Generator)
            }
            // It passed once, but the generator could not repeat it.
            (Some(passed), _) if passed >= last.load && is_out(last.load) => {
                Some(SearchEnd::Generator)
            }
            _ => {
                let is_spent = self.steps.len() >= STEPS_MAX || self.spent >= self.lengths.most();
                is_spent.then_some(SearchEnd::Unsteady)
            }
        }
    }

    /// The gap between passing and failing loads: the highest measured load below, and the lowest
    /// measured load above it. It minimises the time of steps that contradict it; of several such
    /// gaps it is the lowest.
    fn gap(&self) -> (Option<f64>, Option<f64>) {
        let decided = || self.steps.iter().filter(|step| step.is_decided());
        let mut loads: Vec<f64> = decided().map(|step| step.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let wrong = |upper: usize| {
            let is_above =
                |step: &LoadStep| loads.get(upper).is_some_and(|upper| step.load >= *upper);
            let is_wrong = |step: &&LoadStep| is_above(step) == (step.outcome == Outcome::Passed);
            decided().filter(is_wrong).map(|step| self.weight(step)).sum::<f64>()
        };
        let best = (0..=loads.len()).min_by(|a, b| wrong(*a).total_cmp(&wrong(*b))).unwrap_or(0);
        (best.checked_sub(1).map(|lower| loads[lower]), loads.get(best).copied())
    }

    /// Weight of a step: 1 for a fine one.
    fn weight(&self, step: &LoadStep) -> f64 {
        (step.seconds / self.fine()).min(1.0)
    }

    /// True when at least two fine steps failed at this load or just above it, and at this load at
    /// least as many failed as passed.
    fn is_sure(&self, failed: f64) -> bool {
        let fine =
            || self.steps.iter().filter(|step| step.is_decided() && self.weight(step) >= 0.99);
        let has_failed = |step: &&LoadStep| step.outcome == Outcome::Failed;
        let here = || fine().filter(|step| step.load == failed);
        let near = fine().filter(|step| (failed..=failed * NEIGHBOUR).contains(&step.load));
        let failed_here = here().filter(has_failed).count();
        near.filter(has_failed).count() >= 2 && failed_here > 0 && 2 * failed_here >= here().count()
    }

    /// Loads that the generator cannot produce.
    fn out_of_reach(&self) -> impl Iterator<Item = f64> {
        let mut loads: Vec<f64> = self.steps.iter().map(|step| step.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        loads.into_iter().filter(|load| self.generator_steps(*load) >= GENERATOR_STEPS)
    }

    fn generator_steps(&self, load: f64) -> usize {
        self.steps
            .iter()
            .filter(|step| step.load == load && step.outcome == Outcome::Generator)
            .count()
    }

    /// True when a load out of reach is so near to one that passed, or there are so many of them,
    /// that no load in between is worth trying.
    fn is_near_reach(&self, passed: f64, load: f64) -> bool {
        load / passed <= NEIGHBOUR || self.out_of_reach().count() >= GENERATOR_LOADS
    }

    /// A rate is only lowered further if a single client passes the limit.
    fn needs_alone(&self) -> bool {
        let failed = self.steps.iter().filter(|step| step.outcome == Outcome::Failed);
        self.search.most == LoadBy::Rate && self.alone.is_none() && failed.count() >= 2
    }

    /// The lowest load that was tried.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.steps.iter().map(|step| step.load).fold(f64::INFINITY, f64::min)
    }

    /// The last load step.
    #[must_use]
    pub fn last(&self) -> Option<&LoadStep> {
        self.steps.last()
    }

    /// Measurements and result so far.
    #[must_use]
    pub fn into_record(self) -> SearchRecord {
        let (passed, failed) = self.gap();
        let end = self.end.unwrap_or(SearchEnd::Interrupted);
        SearchRecord { search: self.search, passed, failed, steps: self.steps, end }
    }

    /// The nearest valid load: a whole number of clients, or a rate with three significant digits.
    fn at(&self, load: f64) -> f64 {
        let load = load.clamp(self.range.0, self.range.1);
        match self.search.most {
            LoadBy::Clients => load.round(),
            LoadBy::Rate => {
                let unit = 10_f64.powf(load.log10().floor() - 2.0);
                (load / unit).round() * unit
            }
        }
    }

    fn above(&self, passed: f64) -> f64 {
        let next = self.at(passed * self.factor);
        if next > passed { next } else { self.at(passed + 1.0) }
    }

    fn below(&self, failed: f64) -> f64 {
        // One client alone passes the limit, so a load that keeps it half busy is likely to pass.
        let alone =
            self.alone.filter(|alone| *alone > 0.0).map_or(f64::INFINITY, |alone| alone / 2.0);
        let next = self.at((failed / self.factor.max(FACTOR_FIRST)).min(alone.max(failed / 8.0)));
        if next < failed { next } else { self.at(failed - 1.0) }
    }

    /// A load between two loads, if they are not close enough.
    fn between(&self, passed: f64, failed: f64) -> Option<f64> {
        let middle = self.at((passed * failed).sqrt());
        (failed / passed > PRECISION && passed < middle && middle < failed).then_some(middle)
    }
}
