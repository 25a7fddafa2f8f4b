//! The search for the highest load that a system takes: what is asked, which load is tried next, and what was found. Pure: who tries a load and
//! says how it went is asked for by [`Climb::next`].
//!
//! A step is a trial of its own at one load. Loads rise by a factor until one is not held, then the gap between loads that were held and loads that were not is halved (on the
//! scale of logarithms) until it is [`PRECISION`]. Single steps mislead: one meets a checkpoint, another has luck. So every step counts, not the last one: the gap is where
//! fewest steps are on the wrong side, its upper end has to be seen not held by more tries than held, two at least, and its lower end is tried once more as
//! the trial whose figures are kept.

use crate::limit::LimitMeasure;
use crate::plan::LoadBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search ends when the lowest load that is not held is at most so many times the highest that is.
pub const PRECISION: f64 = 1.03;
/// Most steps of a search; one without contradictions takes about a dozen.
pub const STEPS_MAX: usize = 30;
/// Steps of a search on average, for estimates of time.
pub const STEPS_USUAL: u64 = 12;
/// Loads rise by at most this factor.
const FACTOR_MAX: f64 = 2.0;
/// Figures farther from the limit, by this factor, say nothing of the way there.
const NEAR: f64 = 4.0;
/// Loads outside are not tried.
const RATES: (f64, f64) = (0.1, 1e7);
const CLIENTS_MIN: f64 = 1.0;

/// A search for the highest load at which a figure stays below a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What is raised.
    pub most: LoadBy,
    /// What has to stay below the limit: a response time, or the share that fails.
    pub measure: LimitMeasure,
    /// The limit, in milliseconds or per cent.
    pub below: f64,
    /// The load that is tried first.
    pub from: f64,
}

/// One load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Transactions that arrived per second, or clients.
    pub load: f64,
    /// What came of [`Search::measure`]; absent when there were too few transactions for it, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<f64>,
    /// True when the figure is only a lower bound, because arrivals without a commit reach it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Whether the figure stayed below the limit, and the system kept up.
    pub is_held: bool,
    /// Not held, and the generator was at its own limit, so that the system might have held it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_generator: bool,
}

/// What a search tried and found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRecord {
    /// What was asked.
    pub search: Search,
    /// Loads in the order in which they were tried; the last that was held is the trial whose figures are kept.
    pub steps: Vec<Step>,
    /// Highest load that was held, by most of its tries.
    pub held: f64,
    /// Lowest load above it that was tried and was not; absent where none was found up to the highest that may be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<f64>,
}

impl SearchRecord {
    /// The highest load that is held: between the two ends, where the logarithm of the figure meets that of the limit, or in the middle when a figure is so far
    /// from the limit that it says nothing of the way there: of a queue that grows, how long it had time to. Where the system was not the limit, the highest load that was held,
    /// which is a lower bound.
    #[must_use]
    pub fn found(&self) -> f64 {
        let Some(broken) = self.broken.filter(|_| !self.is_bound()) else { return self.held };
        let figure = |load: f64| {
            let tries = self.steps.iter().filter(|step| step.load == load);
            let logarithms: Vec<f64> = tries.filter_map(|step| step.figure).map(f64::ln).collect();
            (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
        };
        let share = match (figure(self.held), figure(broken)) {
            (Some(low), Some(high))
                if self.is_near(low)
                    && self.is_near(high)
                    && low < self.search.below
                    && self.search.below < high =>
            {
                (self.search.below / low).ln() / (high / low).ln()
            }
            _ => 0.5,
        };
        self.held * (broken / self.held).powf(share)
    }

    fn is_near(&self, figure: f64) -> bool {
        (self.search.below / NEAR..=self.search.below * NEAR).contains(&figure)
    }

    /// True when the system might take more: the search ended at the highest load that may be tried, or at what the generator can do.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        let by_generator = |broken: f64| {
            let mut steps = self.steps.iter().rev();
            steps.find(|step| step.load == broken && !step.is_held).is_some_and(|step| step.is_by_generator)
        };
        self.broken.is_none_or(by_generator)
    }
}

/// What a search does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// It tries this load.
    Try(f64),
    /// It tries this load, the highest that was held, once more: when it is held again, the search is over, and the figures of this step are kept.
    Confirm(f64),
    /// Not even the lowest load was held.
    Hopeless,
}

/// The state of a search.
#[derive(Debug, Clone)]
pub struct Climb {
    search: Search,
    /// Lowest and highest load that may be tried.
    range: (f64, f64),
    steps: Vec<Step>,
    /// By what loads rise or fall while only one end is known.
    factor: f64,
}

impl Climb {
    /// Begins where the search says. `clients` is the number of clients of the treatment, the most that may be tried.
    #[must_use]
    pub fn new(search: Search, clients: u32) -> Self {
        let range = match search.most {
            LoadBy::Rate => RATES,
            LoadBy::Clients => (CLIENTS_MIN, clients.into()),
        };
        Self { search, range, steps: Vec::new(), factor: FACTOR_MAX }
    }

    /// The same, near what another search of the same treatment found: with small steps at first.
    #[must_use]
    pub fn near(self, found: f64) -> Self {
        let search = Search { from: found, ..self.search };
        Self { search, factor: PRECISION, ..self }
    }

    /// Which load is to be tried.
    #[must_use]
    pub fn next(&self) -> Next {
        let is_over = self.steps.len() >= STEPS_MAX;
        match self.gap() {
            (None, None) => Next::Try(self.at(self.search.from)),
            (Some(held), _) if is_over => Next::Confirm(held),
            (None, _) if is_over => Next::Hopeless,
            (None, Some(broken)) if broken <= self.range.0 => Next::Hopeless,
            (None, Some(broken)) => Next::Try(self.below(broken)),
            (Some(held), None) if held >= self.range.1 => Next::Confirm(held),
            (Some(held), None) => Next::Try(self.above(held)),
            (Some(held), Some(broken)) => match self.between(held, broken) {
                Some(middle) => Next::Try(middle),
                None if !self.is_sure(broken) => Next::Try(broken),
                None => Next::Confirm(held),
            },
        }
    }

    /// How the load went that [`Self::next`] named. `true` when the search is over: its figures are those to keep.
    pub fn take(&mut self, step: Step) -> bool {
        let is_confirmation = self.next() == Next::Confirm(step.load);
        let (held, broken) = self.gap();
        if held.is_some() && broken.is_some() {
            // Should one of the ends have been luck, the other side is near.
            self.factor = PRECISION;
        } else if !self.steps.is_empty() {
            self.factor = self.factor.powi(2).min(FACTOR_MAX);
        }
        self.steps.push(step);
        is_confirmation && (step.is_held || self.steps.len() > STEPS_MAX)
    }

    /// The gap between what is held and what is not: highest load below, and lowest load above it, that were tried. Fewest steps are on its wrong side; of several such gaps
    /// it is the lowest.
    fn gap(&self) -> (Option<f64>, Option<f64>) {
        let mut loads: Vec<f64> = self.steps.iter().map(|step| step.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let wrong = |upper: Option<&f64>| {
            let is_above = |step: &&Step| upper.is_some_and(|upper| step.load >= *upper);
            self.steps.iter().filter(|step| is_above(step) == step.is_held).count()
        };
        let gaps = 0..=loads.len();
        let best = gaps.min_by_key(|upper| wrong(loads.get(*upper))).unwrap_or(0);
        (best.checked_sub(1).map(|lower| loads[lower]), loads.get(best).copied())
    }

    /// True when a load was not held twice or more, and more often than it was.
    fn is_sure(&self, broken: f64) -> bool {
        let tries = || self.steps.iter().filter(|step| step.load == broken);
        let not_held = tries().filter(|step| !step.is_held).count();
        not_held >= 2 && 2 * not_held > tries().count()
    }

    /// The lowest load that was tried.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.steps.iter().map(|step| step.load).fold(f64::INFINITY, f64::min)
    }

    /// What was found; `None` before the search is over.
    #[must_use]
    pub fn into_record(self) -> Option<SearchRecord> {
        let (held, broken) = self.gap();
        Some(SearchRecord { search: self.search, held: held?, broken, steps: self.steps })
    }

    /// A load that can be tried, near a number: a whole number of clients, or a rate of three digits.
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

    fn above(&self, held: f64) -> f64 {
        let next = self.at(held * self.factor);
        if next > held { next } else { self.at(held + 1.0) }
    }

    fn below(&self, broken: f64) -> f64 {
        let next = self.at(broken / self.factor);
        if next < broken { next } else { self.at(broken - 1.0) }
    }

    /// What lies between two loads, where they are not near enough.
    fn between(&self, held: f64, broken: f64) -> Option<f64> {
        let middle = self.at((held * broken).sqrt());
        (broken / held > PRECISION && held < middle && middle < broken).then_some(middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search =
        Search { most: LoadBy::Rate, measure: LimitMeasure::P99, below: 20.0, from: 100.0 };

    /// Runs a search on a system that is a function of the load, and of the number of the step.
    fn run(mut climb: Climb, system: impl Fn(f64, usize) -> f64) -> Option<SearchRecord> {
        for number in 0..=STEPS_MAX + 1 {
            let load = match climb.next() {
                Next::Try(load) | Next::Confirm(load) => load,
                Next::Hopeless => return None,
            };
            let figure = system(load, number);
            let is_held = figure < SEARCH.below;
            let step = Step {
                load,
                figure: Some(figure),
                is_bound: false,
                throughput: load,
                is_held,
                is_by_generator: false,
            };
            if climb.take(step) {
                return climb.into_record();
            }
        }
        panic!("it does not end")
    }

    /// The 99th percentile of an M/M/1 queue: exponential with rate `capacity - load`.
    fn queue(capacity: f64) -> impl Fn(f64, usize) -> f64 {
        move |load, _| if load < capacity { 1e3 * 100_f64.ln() / (capacity - load) } else { f64::MAX }
    }

    #[test]
    fn a_search_finds_the_load_of_a_queue_and_tries_both_ends_twice() {
        for capacity in [300.0, 1_234.0, 56_789.0] {
            let truth = capacity - 1e3 * 100_f64.ln() / SEARCH.below;
            let record = run(Climb::new(SEARCH, 64), queue(capacity)).unwrap();
            assert!((record.found() / truth - 1.0).abs() < 0.01, "{capacity}: {record:?}");
            assert!(record.broken.unwrap() / record.held <= PRECISION * 1.01 && !record.is_bound());
            let tries = |load: f64| record.steps.iter().filter(|step| step.load == load).count();
            assert_eq!((tries(record.held), tries(record.broken.unwrap())), (2, 2), "{record:?}");
            assert!(record.steps.len() < 20, "{}", record.steps.len());
        }
    }

    /// The 99th percentile of the times in a simulated queue: Poisson arrivals, exponential service, so many servers, from empty.
    fn simulated(load: f64, (servers, mean_ms): (usize, f64), arrivals: usize, seed: u64) -> f64 {
        let mut random = crate::random::SplitMix64(seed);
        let mut exponential =
            |mean: f64| -mean * (1.0 - (random.bits() >> 11) as f64 / (1_u64 << 53) as f64).ln();
        let (mut now, mut free) = (0.0, vec![0.0_f64; servers]);
        let mut times = Vec::new();
        for _ in 0..arrivals {
            now += exponential(1e3 / load);
            let first = (0..servers).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            free[first] = free[first].max(now) + exponential(mean_ms);
            times.push(free[first] - now);
        }
        *times.select_nth_unstable_by(arrivals * 99 / 100, f64::total_cmp).1
    }

    #[test]
    fn nineteen_of_twenty_searches_are_within_five_per_cent_of_a_queues_formula() {
        // Servers, mean time of service in ms, the load at which the 99th percentile of the M/M/c queue is 20 ms (Erlang's C), and arrivals per step.
        let queues = [
            (8, 2.0, 3_745.18, 20_000),
            (4, 1.0, 3_763.08, 20_000),
            (16, 4.0, 3_492.12, 20_000),
            (1, 2.0, 269.74, 60_000),
        ];
        for (servers, mean_ms, truth, arrivals) in queues {
            let good = (0..20)
                .filter(|search| {
                    let system = |load, number| {
                        simulated(load, (servers, mean_ms), arrivals, 1_000 * search + number as u64)
                    };
                    let found = run(Climb::new(SEARCH, 64), system).unwrap().found();
                    (found / truth - 1.0).abs() < 0.05
                })
                .count();
            assert!(good >= 19, "{servers} servers of {mean_ms} ms: {good} of 20");
        }
    }

    #[test]
    fn a_second_search_begins_near_the_first_and_takes_few_steps() {
        let record = run(Climb::new(SEARCH, 64).near(1_000.0), queue(1_234.0)).unwrap();
        assert!(record.steps.len() <= 6, "{record:?}");
        let far = run(Climb::new(SEARCH, 64).near(1_000.0), queue(5_000.0)).unwrap();
        assert!((far.found() / (5_000.0 - 230.26) - 1.0).abs() < 0.01, "{far:?}");
    }

    #[test]
    fn a_step_that_met_a_checkpoint_does_not_end_the_search_below() {
        let calm = run(Climb::new(SEARCH, 64), queue(1_234.0)).unwrap();
        for unlucky in 0..calm.steps.len() - 1 {
            let system = queue(1_234.0);
            let record = run(Climb::new(SEARCH, 64), |load, number| match number == unlucky {
                true => 1e4,
                false => system(load, number),
            });
            let found = record.unwrap().found();
            assert!((found / calm.found() - 1.0).abs() < 0.02, "step {unlucky}: {found}");
        }
        for lucky in 0..calm.steps.len() - 1 {
            let system = queue(1_234.0);
            let record = run(Climb::new(SEARCH, 64), |load, number| match number == lucky {
                true => 1.0,
                false => system(load, number),
            });
            let found = record.unwrap().found();
            assert!((found / calm.found() - 1.0).abs() < 0.03, "step {lucky}: {found}");
        }
    }

    #[test]
    fn whole_clients_are_tried_up_to_the_most_there_may_be() {
        let search = Search { most: LoadBy::Clients, from: 1.0, ..SEARCH };
        let record = run(Climb::new(search, 64), |clients, _| clients).unwrap();
        assert_eq!((record.held, record.broken), (19.0, Some(20.0)));
        let open = run(Climb::new(search, 10), |clients, _| clients).unwrap();
        assert_eq!((open.held, open.broken, open.found(), open.is_bound()), (10.0, None, 10.0, true));
    }

    #[test]
    fn a_system_that_holds_nothing_is_not_searched_for_ever() {
        assert_eq!(run(Climb::new(SEARCH, 64), |_, _| 1e4), None);
        // One that is never twice the same.
        let record = run(Climb::new(SEARCH, 64), |_, number| if number % 2 == 0 { 1.0 } else { 100.0 });
        assert!(record.is_none_or(|record| record.steps.len() <= STEPS_MAX + 1));
    }

    #[test]
    fn what_the_generator_could_not_offer_is_no_limit_of_the_system() {
        let step = |load, is_held, is_by_generator| Step {
            load,
            figure: Some(if is_held { 1.0 } else { 100.0 }),
            is_bound: false,
            throughput: load,
            is_held,
            is_by_generator,
        };
        let steps = vec![step(1_000.0, true, false), step(1_030.0, false, true)];
        let record = SearchRecord { search: SEARCH, steps, held: 1_000.0, broken: Some(1_030.0) };
        assert_eq!((record.found(), record.is_bound()), (1_000.0, true));
    }
}
