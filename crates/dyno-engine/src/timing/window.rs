//! The measured window: when measuring begins and ends, and which transactions may still start.

use dyno_model::catalog::Growth;
use dyno_model::client_group::ClientSubset;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::reason::Reason;
use dyno_model::stages::LoadProfile;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use rustix::time::{ClockId, clock_gettime};

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Length of the grace period after the user has requested the end: most transactions end in it,
/// and it is too short to be noticed.
const SHORTENED_GRACE: Duration = Duration::from_millis(500);

/// Nanoseconds of the clock that [`Instant`] uses on Linux. The arithmetic of instants takes more
/// instructions than the clock itself, and each statement reads it twice.
fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Times of one trial, in nanoseconds since its epoch (the moment at which all clients may begin).
///
/// ```text
///   epoch        opens                    closes      grace_ends
///     |--warm-up---|------measure-----------|---grace----|
/// ```
/// A transaction belongs to the measured window when it *starts* in [opens, closes). With a
/// duration as stop rule the window's length is exactly that duration. Transactions that are
/// running when it closes are awaited during the grace period and belong to it; those that are
/// running when it opens do not. In a steady closed loop the two cancel, so counts are unbiased.
/// Stop rules by count measure until the last answer.
#[derive(Debug)]
pub struct MeasurementWindow {
    epoch: Instant,
    /// The epoch by [`monotonic`].
    epoch_nanos: u64,
    opens: u64,
    closes: u64,
    /// Brought forward when measuring is stopped early.
    grace_ends: AtomicU64,
    grace: u64,
    stop: StopRule,
    /// Number of transactions requested under [`StopRule::Transactions`]; number of transactions
    /// admitted and not given back under [`StopRule::Rows`].
    admitted: AtomicU64,
    /// Transactions needed for the table to reach its target, under [`StopRule::Rows`].
    until_target: u64,
    is_stopped: AtomicBool,
    /// Time after which no transaction starts: the closing, or an earlier stop.
    admission_ends: AtomicU64,
    reason: Mutex<Option<Reason>>,
    /// Number of active clients over time, if it is not always all of them.
    active_clients: Option<LoadProfile>,
    think: Option<Nanos>,
}

/// The period that a transaction, with all that it does, belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// It does not count.
    WarmUp,
    /// It counts.
    Measured,
}

impl Period {
    /// True in the measured window.
    #[inline]
    #[must_use]
    pub fn is_measured(self) -> bool {
        self == Self::Measured
    }
}

impl MeasurementWindow {
    /// Creates a window whose warm-up begins at `epoch`. `growth` is how the table grows; without
    /// it, [`StopRule::Rows`] counts each transaction as a row of an empty table.
    #[must_use]
    pub fn new(epoch: Instant, load: &LoadPlan, growth: Option<Growth>) -> Self {
        let opens = load.warmup.0;
        let length = match load.stop {
            StopRule::Duration(duration) => duration.0,
            StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) | StopRule::Rows(_) => {
                load.time_limit.0
            }
        };
        let closes = opens.saturating_add(length);
        let (instant, now) = (Instant::now(), monotonic());
        let ahead = Nanos::from(epoch.saturating_duration_since(instant)).0;
        let behind = Nanos::from(instant.saturating_duration_since(epoch)).0;
        Self {
            epoch,
            epoch_nanos: (now + ahead).saturating_sub(behind),
            opens,
            closes,
            grace_ends: AtomicU64::new(closes.saturating_add(load.grace.0)),
            grace: load.grace.0,
            stop: load.stop,
            admitted: AtomicU64::new(0),
            until_target: match load.stop {
                StopRule::Rows(rows) => growth.map_or(rows, |growth| growth.commits_until(rows)),
                _ => 0,
            },
            is_stopped: AtomicBool::new(false),
            admission_ends: AtomicU64::new(closes),
            reason: Mutex::new(None),
            active_clients: load.active_clients(),
            think: load.think,
        }
    }

    /// The window of a subset of the clients: budgets are those of the subset.
    pub(crate) fn of_subset(self, subset: ClientSubset) -> Self {
        let stop = match self.stop {
            StopRule::Transactions(budget) => StopRule::Transactions(subset.items_of(budget)),
            stop => stop,
        };
        Self { stop, until_target: subset.items_of(self.until_target), ..self }
    }

    /// Creates a window that admits no transaction; clients use it until the trial begins.
    #[must_use]
    pub fn closed() -> Self {
        let load = LoadPlan { grace: Nanos(0), ..LoadPlan::new(StopRule::Duration(Nanos(0))) };
        Self::new(Instant::now(), &load, None)
    }

    /// Nanoseconds since the epoch; 0 before it.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        monotonic().saturating_sub(self.epoch_nanos)
    }

    /// When the first transaction may start.
    #[must_use]
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Sleeps until the first transaction may start, which is the same moment for all clients.
    pub(crate) fn await_epoch(&self) {
        std::thread::sleep(self.epoch.saturating_duration_since(Instant::now()));
    }

    /// When measuring begins.
    #[must_use]
    pub fn opens(&self) -> u64 {
        self.opens
    }

    /// End of the window: from then on no transaction starts. With a stop rule by count this is the
    /// time limit.
    #[must_use]
    pub fn closes(&self) -> u64 {
        self.closes
    }

    /// From then on no transaction starts: the end of the window, or the moment at which measuring
    /// was stopped early.
    #[must_use]
    pub fn admission_ends(&self) -> u64 {
        self.admission_ends.load(Ordering::Relaxed)
    }

    /// True when measuring was stopped before the window's end. A stop in the grace period leaves
    /// the window whole.
    pub(crate) fn is_shortened(&self) -> bool {
        self.admission_ends() < self.closes
    }

    /// Clamps a time to [opens, closes].
    #[must_use]
    pub fn clip(&self, time: u64) -> u64 {
        time.clamp(self.opens, self.closes)
    }

    /// Share of the time from `start` to `end` within [opens, closes], 0 to 1. An instant is either
    /// entirely inside or entirely outside.
    ///
    /// Summed over all transactions that begin before the window closes, the expected value is
    /// their rate times the window's length, whatever their durations (Campbell's theorem: the
    /// share of a transaction of length d, integrated over all start times s, is the length of the
    /// window). With a think time this holds for the transactions alone: think time that has passed
    /// when the window closes ends in no transaction.
    #[inline]
    #[must_use]
    pub fn measured_share(&self, start: u64, end: u64) -> f64 {
        if self.opens <= start && end <= self.closes {
            return 1.0;
        }
        let inside = self.clip(end) - self.clip(start);
        if inside == 0 { 0.0 } else { inside as f64 / (end - start) as f64 }
    }

    /// Asks to start a transaction at a time. `measured_count` is the number of this
    /// client's transactions counted so far. Under a shared budget, each answer `Measured` takes
    /// one transaction from it; under a target number of rows, warm-up counts too.
    pub fn admit(&self, now: u64, measured_count: u64) -> Option<Period> {
        if now >= self.closes || self.is_stopped.load(Ordering::Relaxed) {
            return None;
        }
        if matches!(self.stop, StopRule::Rows(_)) && !self.admit_row() {
            return None;
        }
        if now < self.opens {
            return Some(Period::WarmUp);
        }
        let is_left = match self.stop {
            StopRule::Duration(_) | StopRule::Rows(_) => true,
            StopRule::TransactionsPerClient(limit) => measured_count < limit,
            StopRule::Transactions(budget) => {
                self.admitted.fetch_add(1, Ordering::Relaxed) < budget
            }
        };
        is_left.then_some(Period::Measured)
    }

    /// Takes one of the transactions left until the target, if any.
    fn admit_row(&self) -> bool {
        let one_more = |admitted| (admitted < self.until_target).then_some(admitted + 1);
        self.admitted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Returns an admitted transaction that inserted nothing: under [`StopRule::Rows`] another may
    /// replace it. A client that gives one back asks again, so that none is lost.
    pub fn return_to_budget(&self) {
        if matches!(self.stop, StopRule::Rows(_)) {
            self.admitted.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Mean think time before each transaction.
    #[inline]
    pub(crate) fn think(&self) -> Option<Nanos> {
        self.think
    }

    /// The time from which a client that is free at `now` may begin a transaction: `now`, or the
    /// next time at which the stages require this client. Client c, counted from 0, is active while
    /// the planned number of clients is at least c + 0.5: a number that changes linearly is
    /// rounded.
    #[inline]
    pub(crate) fn active_from(&self, client: u32, now: u64) -> u64 {
        let Some(profile) = &self.active_clients else { return now };
        profile.at_least(f64::from(client) + 0.5, now).unwrap_or(u64::MAX)
    }

    /// The period of a time, nanoseconds since the epoch.
    #[inline]
    #[must_use]
    pub fn period(&self, now: u64) -> Period {
        if now < self.opens { Period::WarmUp } else { Period::Measured }
    }

    /// True when a client has used up its own transactions and need not wait for another.
    #[must_use]
    pub fn has_client_finished(&self, measured_count: u64) -> bool {
        matches!(self.stop, StopRule::TransactionsPerClient(limit) if measured_count >= limit)
    }

    /// True when clients must not wait or retry any longer.
    #[must_use]
    pub fn is_cut(&self, now: u64) -> bool {
        now >= self.grace_ends.load(Ordering::Relaxed)
    }

    /// When clients are cut off.
    #[must_use]
    pub fn grace_ends(&self) -> u64 {
        self.grace_ends.load(Ordering::Relaxed)
    }

    /// Ends measuring now; transactions in flight still get the grace period. Only the first reason
    /// is kept.
    pub fn stop(&self, cause: Reason) {
        let now = self.now();
        self.admission_ends.fetch_min(now, Ordering::Relaxed);
        self.grace_ends.fetch_min(now.saturating_add(self.grace), Ordering::Relaxed);
        let mut first = lock(&self.reason);
        if first.is_none() {
            *first = Some(cause);
        }
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Handles the user's request to end: transactions in flight get at most [`SHORTENED_GRACE`]
    /// from the first call on.
    pub fn shorten_grace(&self) {
        let ends = self.now().saturating_add(Nanos::from(SHORTENED_GRACE).0);
        self.grace_ends.fetch_min(ends, Ordering::Relaxed);
    }

    /// True after [`Self::stop`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Why measuring was ended early.
    #[must_use]
    pub fn stop_cause(&self) -> Option<Reason> {
        lock(&self.reason).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(stop: StopRule) -> LoadPlan {
        LoadPlan {
            warmup: Nanos(100),
            grace: Nanos(50),
            time_limit: Nanos(1_000),
            ..LoadPlan::new(stop)
        }
    }

    #[test]
    fn a_duration_admits_from_opening_to_closing() {
        let window =
            MeasurementWindow::new(Instant::now(), &load(StopRule::Duration(Nanos(500))), None);
        let rows = [
            (0, Some(Period::WarmUp)),
            (99, Some(Period::WarmUp)),
            (100, Some(Period::Measured)),
            (599, Some(Period::Measured)),
            (600, None),
        ];
        for (now, expected) in rows {
            assert_eq!(window.admit(now, 0), expected, "at {now}");
        }
        assert!(!window.is_cut(649));
        assert!(window.is_cut(650));
    }

    /// Work of clients that repeatedly begin a transaction together, first at this time before the
    /// window opens; and the number of their transactions that begin in the window.
    fn lockstep(window: &MeasurementWindow, clients: u64, length: u64, before: u64) -> (f64, u64) {
        let starts = (0..).map(|wave| window.opens() - before + wave * length);
        let starts: Vec<u64> = starts.take_while(|start| *start < window.closes()).collect();
        let weighted_commits: f64 =
            starts.iter().map(|start| window.measured_share(*start, start + length)).sum();
        let started = starts.iter().filter(|start| **start >= window.opens()).count() as u64;
        (weighted_commits * clients as f64, started * clients)
    }

    /// A window of 10 s after 5 s of warm-up.
    fn ten_seconds() -> MeasurementWindow {
        let load = LoadPlan {
            warmup: Nanos::from_secs(5),
            ..LoadPlan::new(StopRule::Duration(Nanos::from_secs(10)))
        };
        MeasurementWindow::new(Instant::now(), &load, None)
    }

    #[test]
    fn work_in_the_window_does_not_jump_by_a_wave_and_starts_in_it_do() {
        let window = ten_seconds();
        let found: Vec<(f64, u64)> = (0..100)
            .map(|part| lockstep(&window, 3_000, 3_300_000_000, 33_000_000 * part))
            .collect();
        // 3000 clients over 3.3 s are 909 a second.
        assert!(found.iter().all(|(work, _)| (work - 3_000.0 * 10.0 / 3.3).abs() < 1e-6));
        let starts: std::collections::BTreeSet<u64> =
            found.iter().map(|(_, starts)| *starts).collect();
        assert_eq!(starts.into_iter().collect::<Vec<_>>(), [9_000, 12_000]);
    }

    proptest::proptest! {
        #[test]
        fn work_of_clients_in_lockstep_is_window_over_response_time(
            clients in 1_u64..5_000, length in 1_000_000_u64..20_000_000_000, phase in 0.0..1.0_f64
        ) {
            let before = ((length as f64 * phase) as u64).min(5_000_000_000);
            let window = ten_seconds();
            let (work, _) = lockstep(&window, clients, length, before);
            let expected = clients as f64 * 10e9 / length as f64;
            proptest::prop_assert!((work / expected - 1.0).abs() < 1e-6, "{work} of {expected}");
        }
    }

    /// Work of 200 clients with exponential think and response times of these means, in
    /// milliseconds.
    fn scattered(window: &MeasurementWindow, think: f64, answer: f64) -> f64 {
        let mut weighted_commits = 0.0;
        for client in 0..200 {
            let mut random =
                crate::random::Random::new(1, crate::random::Stream::Transaction, client, 0);
            let mut length = |mean: f64| (-(1.0 - random.unit()).ln() * mean * 1e6) as u64;
            let mut start = length(think);
            while start < window.closes() {
                let end = start + length(answer);
                weighted_commits += window.measured_share(start, end);
                start = end + length(think);
            }
        }
        weighted_commits
    }

    #[test]
    fn work_in_the_window_follows_the_response_time_law() {
        let window = ten_seconds();
        for (think, answer) in [(0.0, 100.0), (2_000.0, 5.0), (2_000.0, 1_000.0), (500.0, 4_000.0)]
        {
            let weighted_commits = scattered(&window, think, answer);
            let expected = 200.0 * 10_000.0 / (think + answer);
            // The standard deviation of a count with exponential times is its square root; the sum
            // of two such times varies less.
            assert!(
                (weighted_commits - expected).abs() < 4.0 * expected.sqrt(),
                "{think} {answer}: {weighted_commits} of {expected}"
            );
        }
    }

    #[test]
    fn a_common_budget_is_given_out_exactly_once() {
        let window =
            MeasurementWindow::new(Instant::now(), &load(StopRule::Transactions(1_000)), None);
        let admitted: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..).take_while(|_| window.admit(200, 0) == Some(Period::Measured)).count()
                            as u64
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(admitted, 1_000);
    }

    #[test]
    fn the_budgets_of_several_generators_add_up_to_that_of_the_load() {
        let growth = Growth { rows_before: 40, rows_per_transaction: 3 };
        let admitted = |stop: StopRule, generator, generators| {
            let subset = ClientSubset::new(7, generator, generators);
            let window =
                MeasurementWindow::new(Instant::now(), &load(stop), Some(growth)).of_subset(subset);
            (0..).take_while(|_| window.admit(200, 0) == Some(Period::Measured)).count() as u64
        };
        for (stop, budget) in [(StopRule::Transactions(1_003), 1_003), (StopRule::Rows(100), 20)] {
            for generators in 1..=7 {
                let all = (0..generators).map(|generator| admitted(stop, generator, generators));
                assert_eq!(all.sum::<u64>(), budget, "{stop:?} of {generators} generators");
            }
        }
    }

    #[test]
    fn warm_up_takes_nothing_from_the_budget() {
        let window = MeasurementWindow::new(Instant::now(), &load(StopRule::Transactions(1)), None);
        assert_eq!(window.admit(10, 0), Some(Period::WarmUp));
        assert_eq!(window.admit(200, 0), Some(Period::Measured));
        assert_eq!(window.admit(200, 0), None);
    }

    #[test]
    fn a_number_of_rows_admits_as_many_commits_as_bring_them() {
        let growth = Growth { rows_before: 40, rows_per_transaction: 25 };
        let window =
            MeasurementWindow::new(Instant::now(), &load(StopRule::Rows(100)), Some(growth));
        assert_eq!(window.admit(10, 0), Some(Period::WarmUp), "rows of the warm-up count");
        assert_eq!(window.admit(200, 0), Some(Period::Measured));
        assert_eq!(
            window.admit(200, 1),
            Some(Period::Measured),
            "40 + 3 * 25 is the first at or above 100"
        );
        assert_eq!(window.admit(200, 2), None);
        window.return_to_budget();
        assert_eq!(
            window.admit(200, 2),
            Some(Period::Measured),
            "a failed transaction is made up for"
        );
        assert_eq!(window.admit(200, 2), None);
    }

    #[test]
    fn each_client_stops_after_its_own_number() {
        let window =
            MeasurementWindow::new(Instant::now(), &load(StopRule::TransactionsPerClient(3)), None);
        assert_eq!(window.admit(200, 2), Some(Period::Measured));
        assert_eq!(window.admit(200, 3), None);
    }

    #[test]
    fn stopping_keeps_the_first_reason_and_admits_nobody() {
        let window =
            MeasurementWindow::new(Instant::now(), &load(StopRule::Duration(Nanos(500))), None);
        let problem = |reason: &str| Reason::from(reason);
        window.stop(problem("the server died"));
        window.stop(Reason::Interrupted);
        assert_eq!(window.admit(200, 0), None);
        assert_eq!(window.stop_cause(), Some(problem("the server died")));
    }
}
