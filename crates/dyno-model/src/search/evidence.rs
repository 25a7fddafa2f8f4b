//! Evidence of a load step: whether its transactions pass or fail the limit, or are too few to
//! decide.
//!
//! A percentile passes only with at least [`BEYOND_MIN`] transactions expected beyond it: 1,000 for
//! the 99th. It fails as soon as enough transactions exceeded the limit for it to fail whatever the
//! remaining transactions up to this number would take. A mean needs a standard error that is small
//! relative to its distance from the limit, or to the limit. A result is *clear* when chance does
//! not explain its side of the limit; in a step shorter than half of the requested time, only a
//! clear result counts.

use crate::latency::BEYOND_MIN;
use crate::limit::LimitMetric;
use crate::record::TrialRecord;
use crate::response::Responses;
use crate::search_question::{Outcome, Search, Slow};
use crate::units::millis;
use crate::warning::KEPT_UP_ENOUGH;

/// Response times in a queue are correlated, so a result is only clear at this number of standard
/// errors from the limit.
const CLEAR: f64 = 4.0;
/// A share that is not clear counts from this multiple of the minimum number of transactions on.
const SOUND: f64 = 5.0;
/// Minimum number of transactions for a mean, and for the rule that the system kept up.
const MEAN_MIN: f64 = 100.0;
/// A mean is decided when its standard error is at most this share of the limit.
const MEAN_ERROR: f64 = 0.0175;
/// From this share of failed transactions on, a trial is invalid
/// ([`crate::warning::Warning::Failures`]), so its load does not pass.
const FAILING: f64 = 0.001;
/// Minimum number of failures that is not attributed to chance.
const FAILING_MIN: u64 = 3;

/// Measurements at one load: the windows of a load step and of those that extended it.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Response times of the transactions that the limit applies to, with the ages of arrivals
    /// without a commit.
    pub responses: Responses,
    /// Length of the windows, in seconds.
    pub seconds: f64,
    /// Transactions of any name that arrived, or started in a closed loop.
    pub arrived: u64,
    /// Committed transactions.
    pub committed: u64,
    /// Transactions that failed or were cut off.
    pub lost: u64,
    /// True when arrivals did not wait for clients, so that the system may fall behind.
    pub is_open_loop: bool,
}

/// Evaluation of the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Passed, failed, or undecided.
    pub outcome: Outcome,
    /// True when chance does not explain it.
    pub is_clear: bool,
    /// Transactions that the limit applies to.
    pub transactions: u64,
    /// Minimum number of transactions for a decision, roughly.
    pub needed: u64,
    /// Minimum number of transactions for a decision by a result that is not clear.
    pub sound: u64,
    /// Same as [`super::LoadStep::excess`].
    pub excess: Option<f64>,
    /// The figure, in milliseconds or per cent.
    pub figure: Option<f64>,
    /// True when the figure is only a lower bound.
    pub is_bound: bool,
    /// Share of failed transactions, in per cent, if failures decided it.
    pub failing: Option<f64>,
}

impl Evidence {
    /// Adds the results of another window.
    pub fn add(&mut self, other: &Self) {
        self.responses.add(&other.responses);
        self.seconds += other.seconds;
        self.arrived += other.arrived;
        self.committed += other.committed;
        self.lost += other.lost;
        self.is_open_loop |= other.is_open_loop;
    }

    /// Counts of a trial's window, with the given response times.
    #[must_use]
    pub fn of_trial(record: &TrialRecord, responses: Responses) -> Self {
        let counters = &record.counters;
        let unstarted = record.open_loop.map_or(0, |open| open.unstarted);
        Self {
            responses,
            seconds: record.window_length.as_secs_f64(),
            arrived: counters.started + unstarted,
            committed: counters.committed,
            lost: counters.failed + counters.unfinished,
            is_open_loop: record.open_loop.is_some(),
        }
    }

    /// Evaluates the limit of a search.
    #[must_use]
    pub fn judge(&self, search: &Search) -> Judged {
        let mut judged = match search.metric {
            LimitMetric::Failed => {
                let missing = self.arrived.saturating_sub(self.committed);
                let judged = share(missing, self.arrived, search.below / 100.0);
                let figure =
                    (self.arrived > 0).then(|| 100.0 * missing as f64 / self.arrived as f64);
                Judged { figure, ..judged }
            }
            LimitMetric::P50 => self.percentile(50.0, search.below),
            LimitMetric::P90 => self.percentile(90.0, search.below),
            LimitMetric::P95 => self.percentile(95.0, search.below),
            LimitMetric::P99 => self.percentile(99.0, search.below),
            LimitMetric::P999 => self.percentile(99.9, search.below),
            // A search never uses the last three.
            LimitMetric::Mean | LimitMetric::Max | LimitMetric::Throughput | LimitMetric::Lost => {
                self.mean(search.below)
            }
        };
        let failing = self.lost as f64 / self.arrived.max(1) as f64;
        if search.metric != LimitMetric::Failed && self.lost > 0 && failing >= FAILING {
            let is_accident = self.lost < FAILING_MIN;
            judged.outcome = if is_accident { Outcome::Open } else { Outcome::Failed };
            judged.is_clear = true;
            judged.failing = Some(100.0 * failing);
        }
        if self.is_behind() {
            (judged.outcome, judged.is_clear) = (Outcome::Failed, true);
        }
        judged
    }

    /// True when the system failed to process the arrivals, however many more arrive up to the
    /// number that this rule needs.
    fn is_behind(&self) -> bool {
        let missing = self.arrived.saturating_sub(self.committed + self.lost);
        self.is_open_loop
            && missing as f64 > (1.0 - KEPT_UP_ENOUGH) * (self.arrived as f64).max(MEAN_MIN)
    }

    fn percentile(&self, percentage: f64, below: f64) -> Judged {
        let bounds = self.responses.bounds();
        let limit = (below * 1e6) as u64;
        let count = bounds.lower().len();
        let within = bounds.lower().count_between(0, limit.saturating_sub(1)).min(count);
        let judged = share(count - within, count, (100.0 - percentage) / 100.0);
        if judged.outcome == Outcome::Open {
            return judged;
        }
        let figure = bounds.percentile(percentage);
        Judged { figure: Some(figure.as_millis()), is_bound: figure.is_bound, ..judged }
    }

    fn mean(&self, below: f64) -> Judged {
        let bounds = self.responses.bounds();
        let (count, mean) = (bounds.lower().len(), bounds.mean());
        let error = millis(bounds.lower().stdev()) / (count as f64).max(1.0).sqrt();
        let figure = mean.as_millis();
        let is_clear = (figure - below).abs() > CLEAR * error;
        let is_enough = count as f64 >= MEAN_MIN && (is_clear || error <= MEAN_ERROR * below);
        let wanted = (MEAN_ERROR * below).max((figure - below).abs() / CLEAR);
        let needed = count as f64 * (error / wanted).powi(2);
        Judged {
            outcome: match is_enough {
                false => Outcome::Open,
                true if figure < below => Outcome::Passed,
                true => Outcome::Failed,
            },
            is_clear,
            transactions: count,
            needed: if is_enough { count } else { needed.max(MEAN_MIN) as u64 },
            sound: if is_enough { count } else { needed.max(MEAN_MIN) as u64 },
            excess: (count as f64 >= MEAN_MIN).then(|| (figure / below).ln()),
            figure: (count as f64 >= MEAN_MIN).then_some(figure),
            is_bound: mean.is_bound,
            failing: None,
        }
    }
}

/// Evaluates a share that must be at most `most`, of which `beyond` of `count` were observed.
fn share(beyond: u64, count: u64, most: f64) -> Judged {
    let (beyond, all) = (beyond as f64, count as f64);
    // A millionth of a transaction is rounding.
    let needed = (BEYOND_MIN / most - 1e-6).ceil();
    let expected = most * all;
    let is_clear = (beyond - expected).abs() > CLEAR * (expected * (1.0 - most)).sqrt().max(1.0);
    let outcome = if beyond > most * all.max(needed) {
        Outcome::Failed
    } else if all >= needed {
        Outcome::Passed
    } else {
        Outcome::Open
    };
    // At the minimum number of transactions for a decision, ten were expected; at most three occur
    // by chance in one of a hundred cases.
    let is_rare = outcome == Outcome::Passed && beyond <= 0.3 * expected;
    Judged {
        outcome,
        is_clear: is_clear || is_rare,
        transactions: count,
        needed: needed as u64,
        sound: (SOUND * needed) as u64,
        excess: (all > 0.0).then(|| ((beyond + 0.5) / (most * all)).ln()),
        figure: None,
        is_bound: false,
        failing: None,
    }
}

/// Transactions that exceed the limit without any other load, according to a trial with one client.
#[must_use]
pub fn slow(search: &Search, record: &TrialRecord) -> Option<Slow> {
    let all = record.counters.started.max(1) as f64;
    let named = record.transactions.iter().zip(&record.counters.transactions);
    let named =
        named.filter(|(it, _)| search.transaction.as_ref().is_none_or(|name| *name == it.name));
    let candidate = named.filter_map(|(it, counts)| {
        let times = it.response?;
        let typical = match search.metric {
            LimitMetric::Mean => times.mean,
            _ => times.p50,
        };
        let weight = counts.started as f64 / all * typical.nanos;
        let slow = Slow { transaction: Some(it.name.clone()), alone_ms: typical.as_millis() };
        (slow.alone_ms >= search.below).then_some((weight, slow))
    });
    let named = candidate.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, slow)| slow);
    let whole = || {
        let time = record.figure(search.metric.metric()?)?;
        Some(Slow { transaction: None, alone_ms: time })
    };
    named.or_else(whole)
}
