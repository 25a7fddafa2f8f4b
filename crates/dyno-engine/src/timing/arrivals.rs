//! Arrival times of transactions in an open loop, independent of whether the system keeps up:
//! random or evenly spaced, at a rate that may change.
//!
//! The times are a function of the trial's seed and the load alone. One schedule serves all
//! clients: a free client takes the next arrival and waits for its time, or begins immediately if
//! that time has passed. Nothing is queued in memory, so memory does not limit an overload: the
//! number of due transactions follows from the same sequence, which the coordinator generates a
//! second time.

use crate::client_id::ClientId;
use crate::random::{Random, Stream};
use crate::window::{MeasurementWindow, Period};
use dyno_model::client_group::ClientSubset;
use dyno_model::plan::{LoadPlan, Spacing};
use dyno_model::stages::LoadProfile;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::sync::{Arc, Mutex};

/// The sequence of arrivals: for random spacing a non-homogeneous Poisson process, drawn by
/// inversion of the cumulative rate (E. Cinlar, *Introduction to Stochastic Processes*, 1975). The
/// cumulative rate grows from one arrival to the next by an exponential variable with mean 1, for
/// even spacing by 1.
#[derive(Debug, Clone)]
struct ArrivalSequence {
    random: Random,
    spacing: Spacing,
    profile: Arc<LoadProfile>,
    /// The clients whose arrivals these are; all others are drawn and passed over, so that several
    /// generators have the arrivals of one.
    subset: ClientSubset,
    /// Arrivals drawn, those of other generators included.
    drawn: u64,
    /// Area under the curve up to the next arrival, and its position on the curve.
    area: f64,
    profile_index: usize,
    /// The next arrival, nanoseconds since the epoch.
    next: u64,
}

impl ArrivalSequence {
    fn new(seed: u64, spacing: Spacing, profile: LoadProfile, subset: ClientSubset) -> Self {
        let random = Random::new(seed, Stream::Arrival, 0, 0);
        let profile = Arc::new(profile);
        let mut sequence = Self {
            random,
            spacing,
            profile,
            subset,
            drawn: 0,
            area: 0.0,
            profile_index: 0,
            next: 0,
        };
        sequence.advance();
        sequence
    }

    /// The arrival after so many.
    #[cfg(test)]
    fn nth(mut self, arrivals: usize) -> u64 {
        (0..arrivals).for_each(|_| self.advance());
        self.next
    }

    fn advance(&mut self) {
        loop {
            self.area += match self.spacing {
                // 1 - u is never 0.
                Spacing::Poisson => -(1.0 - self.random.unit()).ln(),
                Spacing::Even => 1.0,
            };
            self.drawn += 1;
            if self.subset.contains_item(self.drawn - 1) {
                break;
            }
        }
        self.next = self.profile.reaches(self.area, &mut self.profile_index);
    }
}

/// The start of a transaction, in any loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionStart {
    /// Nanoseconds since the epoch: in an open loop, when it was due.
    pub(crate) start: u64,
    pub(crate) period: Period,
    /// Open loop: whether its client was free before it was due. Otherwise the transaction has
    /// waited for a client.
    pub(crate) client_was_idle: bool,
}

impl TransactionStart {
    /// A transaction whose time begins at `now`, if the window admits it; `measured_count`
    /// is the number of its client's transactions counted so far. `None` when it must not start.
    #[inline]
    pub(crate) fn at_once(
        window: &MeasurementWindow,
        now: u64,
        measured_count: u64,
    ) -> Option<Self> {
        Some(Self {
            start: now,
            period: window.admit(now, measured_count)?,
            client_was_idle: false,
        })
    }
}

/// When a free client may start its next transaction, in any loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStart {
    /// Closed loop: at once, at this reading of the clock.
    Now(u64),
    /// Closed loop: after thinking, and when the stages require the client.
    From(u64),
    /// Open loop: when it is due, unless everything has ended by then.
    Due(TransactionStart),
    /// Open loop: there are no further arrivals; the client waits for the end of the window.
    WaitForEnd,
    /// Open loop: the client's work is done.
    Done,
}

impl NextStart {
    /// The next start of a client that is free at `now`; `measured_count` is the number of
    /// its transactions counted so far. Only closed loops have a `wait` before a transaction.
    #[inline]
    pub(crate) fn new(
        arrivals: Option<&Arrivals>,
        window: &MeasurementWindow,
        client: ClientId,
        (now, wait): (u64, u64),
        measured_count: u64,
    ) -> Self {
        if let Some(arrivals) = arrivals {
            return arrivals.next_start(window, measured_count);
        }
        match window.active_from(client.0, now.saturating_add(wait)) {
            from if from == now => Self::Now(now),
            from => Self::From(from),
        }
    }

    /// Until when the client waits, nanoseconds since the epoch.
    #[inline]
    pub(crate) fn wait_until(self, window: &MeasurementWindow) -> Option<u64> {
        match self {
            Self::From(from) => Some(from.min(window.closes())),
            Self::Due(start) => Some(start.start),
            Self::WaitForEnd => Some(window.closes()),
            Self::Now(_) | Self::Done => None,
        }
    }

    /// The transaction that the client begins after waiting, if it may. An arrival is given back if
    /// the run was stopped meanwhile.
    #[inline]
    pub(crate) fn begin(
        self,
        arrivals: Option<&Arrivals>,
        window: &MeasurementWindow,
        measured_count: u64,
    ) -> Option<TransactionStart> {
        match self {
            Self::Now(now) => TransactionStart::at_once(window, now, measured_count),
            Self::From(_) => TransactionStart::at_once(window, window.now(), measured_count),
            Self::Due(start) if window.is_stopped() => {
                arrivals?.return_arrival(start.start);
                None
            }
            Self::Due(start) => Some(start),
            Self::WaitForEnd | Self::Done => None,
        }
    }
}

/// The schedule that all clients of an open loop take their transactions from.
#[derive(Debug)]
pub(crate) struct Arrivals {
    state: Mutex<ScheduleState>,
    origin: ArrivalSequence,
}

#[derive(Debug)]
struct ScheduleState {
    sequence: ArrivalSequence,
    taken: u64,
    /// Arrival times that were taken but not started; a client gives back at most one, its last.
    returned: Vec<u64>,
}

impl Arrivals {
    /// The schedule of a load, or of a subset of its clients; `None` in a closed loop.
    pub(crate) fn of(load: &LoadPlan, seed: u64, subset: ClientSubset) -> Option<Self> {
        let origin = ArrivalSequence::new(seed, load.spacing, load.offered()?, subset);
        let state = ScheduleState { sequence: origin.clone(), taken: 0, returned: Vec::new() };
        Some(Self { state: Mutex::new(state), origin })
    }

    /// When a free client may start; `measured_count` is the number of its transactions
    /// counted so far. The budget of a stop rule by count is taken with the arrival, so that no
    /// client waits for a transaction that must not start.
    fn next_start(&self, window: &MeasurementWindow, measured_count: u64) -> NextStart {
        let now = window.now();
        if window.has_client_finished(measured_count) || now >= window.admission_ends() {
            return NextStart::Done;
        }
        let Some(at) = self.take(window.closes()) else { return NextStart::WaitForEnd };
        match TransactionStart::at_once(window, at, measured_count) {
            Some(start) => NextStart::Due(TransactionStart { client_was_idle: now < at, ..start }),
            None => {
                self.return_arrival(at);
                NextStart::Done
            }
        }
    }

    /// Takes the next arrival before `closes` for the caller and returns its time; `None` when
    /// there is none.
    fn take(&self, closes: u64) -> Option<u64> {
        let mut state = lock(&self.state);
        let at = state.sequence.next;
        if at >= closes {
            return None;
        }
        state.sequence.advance();
        state.taken += 1;
        Some(at)
    }

    /// Returns an arrival that was taken but not started. A client that gives one back takes no
    /// other.
    fn return_arrival(&self, at: u64) {
        let mut state = lock(&self.state);
        state.taken -= 1;
        state.returned.push(at);
    }

    /// Times of the arrivals in `[from, until)` that no client started.
    pub(crate) fn unstarted(&self, from: u64, until: u64) -> Vec<u64> {
        let state = lock(&self.state);
        let (mut sequence, mut times) = (state.sequence.clone(), state.returned.clone());
        drop(state);
        while sequence.next < until {
            times.push(sequence.next);
            sequence.advance();
        }
        times.retain(|at| (from..until).contains(at));
        times
    }

    /// Number of arrivals taken.
    pub(crate) fn taken(&self) -> u64 {
        lock(&self.state).taken
    }

    /// A counter of due arrivals, from the beginning.
    pub(crate) fn due_counter(&self) -> DueCounter {
        DueCounter { sequence: self.origin.clone(), count: 0 }
    }
}

/// Counts the transactions that are due by a time.
#[derive(Debug)]
pub(crate) struct DueCounter {
    sequence: ArrivalSequence,
    count: u64,
}

impl DueCounter {
    /// Arrivals up to a time, nanoseconds since the epoch; times must not go back.
    pub(crate) fn count_until(&mut self, time: u64) -> u64 {
        while self.sequence.next <= time {
            self.sequence.advance();
            self.count += 1;
        }
        self.count
    }
}

/// Longest think time as a multiple of its mean: one exponential time in 22,000 is longer. As in
/// TPC-C (clause 5.2.5.4).
const THINK_TIME_MAX_MEANS: f64 = 10.0;

/// Think time before a transaction, nanoseconds; 0 without a `mean`. A client also waits before its
/// first transaction, so that clients do not start simultaneously.
pub(crate) fn think_time(mean: Option<Nanos>, seed: u64, client: ClientId, sequence: u64) -> u64 {
    let Some(mean) = mean else { return 0 };
    // 1 - u is never 0.
    let times = -(1.0 - Random::new(seed, Stream::Think, client.0.into(), sequence).unit()).ln();
    (mean.0 as f64 * times.min(THINK_TIME_MAX_MEANS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{LoadBy, Stages, StopRule};
    use dyno_model::stages::{Segment, Stage};
    use dyno_model::units::Nanos;

    const SECOND: u64 = 1_000_000_000;

    fn at(seed: u64, rate: f64) -> Arrivals {
        let load =
            LoadPlan { rate: Some(rate), ..LoadPlan::new(StopRule::Duration(Nanos(SECOND))) };
        Arrivals::of(&load, seed, ClientSubset::whole(1)).expect("an open loop")
    }

    /// A hundred seconds from 100 to 300 a second, ten of nothing, ten of 1,000 a second; a second
    /// of warm-up before.
    fn staged(spacing: Spacing) -> Arrivals {
        of_subset(spacing, ClientSubset::whole(1))
    }

    /// The same for a subset of the clients.
    fn of_subset(spacing: Spacing, subset: ClientSubset) -> Arrivals {
        let segment = |(seconds, from, to)| Segment { length: Nanos(seconds * SECOND), from, to };
        let segments = [(100, 100.0, 300.0), (10, 0.0, 0.0), (10, 1_000.0, 1_000.0)].map(segment);
        let stages = vec![Stage { name: "1".to_owned(), segments: segments.to_vec() }];
        let load = LoadPlan {
            warmup: Nanos(SECOND),
            spacing,
            stages: Some(Stages { by: LoadBy::Rate, stages }),
            ..LoadPlan::new(StopRule::Duration(Nanos(120 * SECOND)))
        };
        Arrivals::of(&load, 3, subset).expect("an open loop")
    }

    /// Mean and variance of gaps.
    fn spread(gaps: &[f64]) -> (f64, f64) {
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        (mean, gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64)
    }

    #[test]
    fn gaps_are_exponential_by_mean_and_variance() {
        let arrivals = at(3, 1_000.0);
        let times: Vec<f64> =
            (0..100_000).map(|_| arrivals.take(u64::MAX).expect("no end") as f64).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1e6).collect();
        let (mean, variance) = spread(&gaps);
        // One millisecond; for an exponential the variance is the mean squared. Five standard
        // errors.
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.045, "{variance}");
    }

    #[test]
    fn arrivals_follow_the_profile_of_the_rate() {
        let arrivals = staged(Spacing::Poisson);
        let mut due = arrivals.due_counter();
        let mut before = 0;
        // Expected until then, warm-up at the first rate; five standard deviations of a Poisson
        // number.
        for (second, expected) in
            [(1, 100.0), (51, 7_500.0), (101, 12_500.0), (111, 0.0), (121, 10_000.0)]
        {
            let by = due.count_until(second * SECOND);
            let found = (by - before) as f64;
            assert!((found - expected).abs() <= 5.0 * f64::sqrt(expected), "{found} by {second} s");
            before = by;
        }
        // In the area under the profile, gaps are exponential with mean 1.
        let profile = arrivals.origin.profile.clone();
        let closes = 121 * SECOND;
        let areas: Vec<f64> =
            std::iter::from_fn(|| arrivals.take(closes)).map(|at| profile.area(at)).collect();
        let gaps: Vec<f64> = areas.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (mean, variance) = spread(&gaps);
        assert!((mean - 1.0).abs() < 0.03 && (variance - 1.0).abs() < 0.09, "{mean} {variance}");
    }

    #[test]
    fn several_generators_have_the_arrivals_of_one_at_the_same_times() {
        let times = |arrivals: Arrivals| -> Vec<u64> {
            std::iter::from_fn(|| arrivals.take(121 * SECOND)).collect()
        };
        for spacing in [Spacing::Poisson, Spacing::Even] {
            let whole = times(staged(spacing));
            for generators in [2, 3, 8] {
                let part = |it| times(of_subset(spacing, ClientSubset::new(11, it, generators)));
                let parts: Vec<Vec<u64>> = (0..generators).map(part).collect();
                // Client 0 of generator 0 has every eleventh arrival, its others likewise.
                assert!(parts.iter().all(|part| part.len() * 11 >= whole.len() * 10 / 11));
                let mut all: Vec<u64> = parts.into_iter().flatten().collect();
                all.sort_unstable();
                assert_eq!(all, whole, "{spacing:?}, {generators} generators");
            }
        }
    }

    #[test]
    fn even_arrivals_come_at_equal_distances() {
        let arrivals = staged(Spacing::Even);
        let mut due = arrivals.due_counter();
        let found = [1, 51, 101, 111, 121].map(|second| due.count_until(second * SECOND));
        assert_eq!(found, [100, 7_600, 20_100, 20_100, 30_100]);
        let last: Vec<u64> = (20_101..20_104).map(|n| arrivals.origin.clone().nth(n)).collect();
        assert_eq!(
            last.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>(),
            [1_000_000; 2]
        );
    }

    #[test]
    fn due_count_equals_the_number_of_arrivals_taken() {
        let arrivals = at(3, 500.0);
        let mut due = arrivals.due_counter();
        let second = SECOND;
        let in_a_second = due.count_until(second);
        assert!((400..600).contains(&in_a_second), "{in_a_second}");
        let taken = std::iter::from_fn(|| arrivals.take(second + 1)).count() as u64;
        assert_eq!((taken, arrivals.taken()), (in_a_second, in_a_second));
        assert_eq!(arrivals.take(second + 1), None, "what comes after the end is nobody's");
        arrivals.return_arrival(7);
        assert_eq!(arrivals.taken(), in_a_second - 1);
    }

    #[test]
    fn unstarted_arrivals_are_those_returned_or_never_taken() {
        let arrivals = at(3, 500.0);
        let times: Vec<u64> = (0..10).map(|_| arrivals.take(u64::MAX).expect("no end")).collect();
        arrivals.return_arrival(times[4]);
        let next = arrivals.origin.clone().nth(10);
        assert_eq!(arrivals.unstarted(0, next + 1), [times[4], next]);
        assert_eq!(arrivals.unstarted(0, next), [times[4]]);
        assert_eq!(arrivals.unstarted(times[4] + 1, next), [0_u64; 0]);
    }

    #[test]
    fn a_rate_may_be_a_fraction() {
        let mut due = at(1, 0.5).due_counter();
        let in_an_hour = due.count_until(3_600_000_000_000);
        assert!((1_600..2_000).contains(&in_an_hour), "{in_an_hour}");
    }

    #[test]
    fn think_times_are_exponential_and_reproducible() {
        let mean = Some(Nanos(1_000_000));
        let times: Vec<f64> = (0..100_000)
            .map(|n| think_time(mean, 7, ClientId((n % 100) as u32), n / 100) as f64 / 1e6)
            .collect();
        let average = times.iter().sum::<f64>() / times.len() as f64;
        let variance =
            times.iter().map(|time| (time - average).powi(2)).sum::<f64>() / times.len() as f64;
        // Five standard errors; of an exponential the variance is the mean squared.
        assert!(
            (average - 1.0).abs() < 0.016 && (variance - 1.0).abs() < 0.045,
            "{average} {variance}"
        );
        assert!(times.iter().all(|time| *time <= THINK_TIME_MAX_MEANS));
        assert_eq!(think_time(mean, 7, ClientId(3), 4), think_time(mean, 7, ClientId(3), 4));
        assert_ne!(think_time(mean, 7, ClientId(3), 4), think_time(mean, 7, ClientId(3), 5));
        assert_ne!(think_time(mean, 7, ClientId(3), 4), think_time(mean, 7, ClientId(4), 4));
    }
}
