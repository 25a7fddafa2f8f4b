//! When transactions arrive in an open loop: Poisson arrivals at a rate, whether or not the system keeps up.
//!
//! The times are a function of the trial's seed and the rate alone. One schedule serves all clients: a free client takes the next arrival and waits
//! for its time, or begins at once when that has passed. Nothing is queued in memory, so no overload is too much: how many
//! transactions are due follows from the same sequence, which the coordinator runs through a second time.

use crate::random::{Random, Stream};
use crate::window::{Admission, Window};
use std::sync::{Mutex, PoisonError};

/// The sequence of arrivals. Gaps are exponential with mean 1 / rate, so that arrivals do not know of each other.
#[derive(Debug, Clone)]
struct Sequence {
    random: Random,
    /// Mean gap in nanoseconds.
    gap: f64,
    /// The next arrival, nanoseconds since the epoch.
    next: f64,
}

impl Sequence {
    fn new(seed: u64, rate: f64) -> Self {
        let mut sequence =
            Self { random: Random::new(seed, Stream::Arrival, 0, 0), gap: 1e9 / rate, next: 0.0 };
        sequence.advance();
        sequence
    }

    /// The arrival after so many.
    #[cfg(test)]
    fn nth(mut self, arrivals: usize) -> u64 {
        (0..arrivals).for_each(|_| self.advance());
        self.next as u64
    }

    fn advance(&mut self) {
        // 1 - u is never 0.
        self.next -= (1.0 - self.random.unit()).ln() * self.gap;
    }
}

/// When a transaction's time begins, in any loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    /// Nanoseconds since the epoch: in an open loop, when it was due.
    pub(crate) start: u64,
    /// Whether it belongs to the measured window.
    pub(crate) is_counted: bool,
    /// Open loop: whether its client was free before it was due. A transaction that was due already waited for a client.
    pub(crate) is_awaited: bool,
}

impl Begun {
    /// A transaction whose time begins now, as it does in a closed loop; `counted` is how many of its client's counted so far. `None` when
    /// it must not start.
    #[inline]
    pub(crate) fn at_once(window: &Window, now: u64, counted: u64) -> Option<Self> {
        let is_counted = match window.admit(now, counted) {
            Admission::WarmUp => false,
            Admission::Measured => true,
            Admission::Over => return None,
        };
        Some(Self { start: now, is_counted, is_awaited: false })
    }
}

/// What a free client of an open loop does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits until then and starts its transaction, unless everything has ended by then.
    Due(Begun),
    /// Nothing arrives any more; it waits for the end of the window.
    Rest,
    /// Its work is done.
    Over,
}

impl Turn {
    /// Until when the client waits, nanoseconds since the epoch; `None` when its work is done.
    pub(crate) fn until(self, window: &Window) -> Option<u64> {
        match self {
            Self::Due(begun) => Some(begun.start),
            Self::Rest => Some(window.closes()),
            Self::Over => None,
        }
    }
}

/// The schedule that all clients of an open loop take their transactions from.
#[derive(Debug)]
pub(crate) struct Arrivals {
    state: Mutex<State>,
    origin: Sequence,
}

#[derive(Debug)]
struct State {
    sequence: Sequence,
    taken: u64,
    /// Times of arrivals that were taken and not started after all; a client gives back one at most, its last.
    given_back: Vec<u64>,
}

impl Arrivals {
    /// Arrivals at a rate per second, which must be above 0.
    pub(crate) fn new(seed: u64, rate: f64) -> Self {
        let origin = Sequence::new(seed, rate);
        Self {
            state: Mutex::new(State { sequence: origin.clone(), taken: 0, given_back: Vec::new() }),
            origin,
        }
    }

    /// What a free client does next; `counted` is how many of its transactions counted so far. The budget of a stop rule by count is taken
    /// with the arrival, so that nobody waits for a transaction that must not start.
    pub(crate) fn turn(&self, window: &Window, counted: u64) -> Turn {
        let now = window.now();
        if window.is_spent(counted) || now >= window.ends() {
            return Turn::Over;
        }
        let Some(at) = self.take(window.closes()) else { return Turn::Rest };
        match Begun::at_once(window, at, counted) {
            Some(begun) => Turn::Due(Begun { is_awaited: now < at, ..begun }),
            None => {
                self.give_back(at);
                Turn::Over
            }
        }
    }

    /// What a client begins that has waited for its turn. What was to begin is given back when all was stopped meanwhile.
    pub(crate) fn after(&self, turn: Turn, window: &Window) -> Option<Begun> {
        let Turn::Due(begun) = turn else { return None };
        if window.is_stopped() {
            self.give_back(begun.start);
            return None;
        }
        Some(begun)
    }

    /// The time of the next arrival before `closes`, which from now on is the caller's; `None` when there is none.
    fn take(&self, closes: u64) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.sequence.next as u64;
        if at >= closes {
            return None;
        }
        state.sequence.advance();
        state.taken += 1;
        Some(at)
    }

    /// An arrival that was taken was not started after all. Whoever gives one back takes no other.
    fn give_back(&self, at: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.taken -= 1;
        state.given_back.push(at);
    }

    /// Times of the arrivals in `[from, until)` that nobody started.
    pub(crate) fn unstarted(&self, from: u64, until: u64) -> Vec<u64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut sequence, mut times) = (state.sequence.clone(), state.given_back.clone());
        drop(state);
        while (sequence.next as u64) < until {
            times.push(sequence.next as u64);
            sequence.advance();
        }
        times.retain(|at| (from..until).contains(at));
        times
    }

    /// Arrivals that were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken
    }

    /// A count of what is due, from the beginning.
    pub(crate) fn due(&self) -> Due {
        Due { sequence: self.origin.clone(), count: 0 }
    }
}

/// Counts how many transactions have been due by a time.
#[derive(Debug)]
pub(crate) struct Due {
    sequence: Sequence,
    count: u64,
}

impl Due {
    /// Arrivals up to a time, nanoseconds since the epoch; times must not go back.
    pub(crate) fn by(&mut self, time: u64) -> u64 {
        while self.sequence.next as u64 <= time {
            self.sequence.advance();
            self.count += 1;
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_exponential_by_mean_and_variance() {
        let arrivals = Arrivals::new(3, 1_000.0);
        let times: Vec<f64> = (0..100_000).map(|_| arrivals.take(u64::MAX).expect("no end") as f64).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // One millisecond; for an exponential the variance is the mean squared. Five standard errors.
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.045, "{variance}");
    }

    #[test]
    fn what_is_due_is_what_can_be_taken() {
        let arrivals = Arrivals::new(3, 500.0);
        let mut due = arrivals.due();
        let second = 1_000_000_000;
        let in_a_second = due.by(second);
        assert!((400..600).contains(&in_a_second), "{in_a_second}");
        let taken = std::iter::from_fn(|| arrivals.take(second + 1)).count() as u64;
        assert_eq!((taken, arrivals.taken()), (in_a_second, in_a_second));
        assert_eq!(arrivals.take(second + 1), None, "what comes after the end is nobody's");
        arrivals.give_back(7);
        assert_eq!(arrivals.taken(), in_a_second - 1);
    }

    #[test]
    fn what_nobody_started_is_what_was_given_back_and_what_was_never_taken() {
        let arrivals = Arrivals::new(3, 500.0);
        let times: Vec<u64> = (0..10).map(|_| arrivals.take(u64::MAX).expect("no end")).collect();
        arrivals.give_back(times[4]);
        let next = arrivals.origin.clone().nth(10);
        assert_eq!(arrivals.unstarted(0, next + 1), [times[4], next]);
        assert_eq!(arrivals.unstarted(0, next), [times[4]]);
        assert_eq!(arrivals.unstarted(times[4] + 1, next), [0_u64; 0]);
    }

    #[test]
    fn a_rate_may_be_a_fraction() {
        let mut due = Arrivals::new(1, 0.5).due();
        let in_an_hour = due.by(3_600_000_000_000);
        assert!((1_600..2_000).contains(&in_an_hour), "{in_an_hour}");
    }
}
