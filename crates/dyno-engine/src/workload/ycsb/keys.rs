//! The numbers of records: which exist, which a request chooses, and their keys.

use crate::distribution::Distribution;
use crate::random::Random;
use dyno_model::catalog::WorkloadOptions;
use dyno_model::checksum::fnv1a;
use dyno_model::client_group::ClientSubset;
use dyno_model::sync::lock;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// What every key begins with.
const PREFIX: &str = "user";
/// Digits of the largest number in a key.
const DIGITS_MAX: usize = 19;
/// Exponent of Zipf's law, as in YCSB.
pub(super) const EXPONENT: f64 = 0.99;
/// Mean distance of `exponential` from the newest record, as a share of the loaded ones: 95 % of
/// the requests go to 85.7 % of them, as in YCSB.
const EXPONENTIAL_MEAN: f64 = 0.857_142_857_1 / 2.995_732_273_553_991;
/// Ranks of `zipfian`, as in YCSB: they are hashed to the records, so that popular records are not
/// neighbours and stay popular when records are inserted.
pub(super) const RANKS: i64 = 10_000_000_000;

/// How keys are made from the numbers of records.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyFormat {
    /// The number in the key is a hash of the record's number: records are inserted in no order.
    pub(super) is_hashed: bool,
    /// Digits that the number has at least.
    pub(super) digits: usize,
}

impl KeyFormat {
    pub(super) fn build(options: &WorkloadOptions) -> Self {
        Self {
            is_hashed: options.text("insertorder") == "hashed",
            digits: options.count("zeropadding") as usize,
        }
    }

    pub(super) fn length_max(self) -> usize {
        PREFIX.len() + DIGITS_MAX.max(self.digits)
    }

    /// Writes the key of a record.
    pub(super) fn write(self, record: u64, key: &mut String) {
        let number = if self.is_hashed { hash(record) } else { record };
        key.clear();
        let _ = write!(key, "{PREFIX}{number:0digits$}", digits = self.digits);
    }
}

/// The FNV-1a hash of the number's octets without its sign bit, from the lowest on, as in YCSB.
fn hash(number: u64) -> u64 {
    fnv1a(&number.to_le_bytes()).cast_signed().unsigned_abs()
}

/// The records of a trial that this process knows: those that were loaded, then those that its
/// clients insert. Those below [`Self::readable`] exist, so that requests choose among them while
/// several clients insert.
#[derive(Debug)]
pub(super) struct Records {
    loaded: u64,
    readable: AtomicU64,
    inserted: Mutex<Inserted>,
    /// With several generators: whose inserts are known.
    subset: OnceLock<ClientSubset>,
}

#[derive(Debug)]
struct Inserted {
    /// The next number that nobody has tried to insert.
    next: u64,
    /// Numbers whose client ended without knowing whether they were inserted.
    uncertain: Vec<u64>,
    /// Existing records above one that may not exist yet.
    ahead: BTreeSet<u64>,
    acknowledged: u64,
    /// Those of other generators whose outcome nobody knows.
    uncertain_elsewhere: u64,
}

impl Records {
    pub(super) fn new(loaded: u64) -> Self {
        let inserted = Inserted {
            next: loaded,
            uncertain: Vec::new(),
            ahead: BTreeSet::new(),
            acknowledged: 0,
            uncertain_elsewhere: 0,
        };
        let (readable, subset) = (AtomicU64::new(loaded), OnceLock::new());
        Self { loaded, readable, inserted: Mutex::new(inserted), subset }
    }

    /// Sets which of the clients are those of this process.
    pub(super) fn set_subset(&self, subset: ClientSubset) {
        let _ = self.subset.set(subset);
    }

    /// The number of a record among those of all generators, from which its key is made. The
    /// numbers of inserted records are divided among the generators.
    pub(super) fn key_number(&self, record: u64) -> u64 {
        match (record.checked_sub(self.loaded), self.subset.get()) {
            (Some(inserted), Some(subset)) => self.loaded + subset.item(inserted),
            _ => record,
        }
    }

    /// Adds what another generator's clients inserted.
    pub(super) fn add(&self, acknowledged: u64, uncertain: u64) {
        let mut inserted = lock(&self.inserted);
        inserted.acknowledged += acknowledged;
        inserted.uncertain_elsewhere += uncertain;
    }

    pub(super) fn readable(&self) -> u64 {
        self.readable.load(Ordering::Acquire)
    }

    /// A number to insert, which no other client has.
    pub(super) fn reserve(&self) -> u64 {
        let mut inserted = lock(&self.inserted);
        inserted.uncertain.pop().unwrap_or_else(|| {
            inserted.next += 1;
            inserted.next - 1
        })
    }

    /// The server has acknowledged that a record exists.
    pub(super) fn acknowledge(&self, record: u64) {
        let mut inserted = lock(&self.inserted);
        inserted.acknowledged += 1;
        inserted.ahead.insert(record);
        let mut readable = self.readable();
        while inserted.ahead.remove(&readable) {
            readable += 1;
        }
        self.readable.store(readable, Ordering::Release);
    }

    /// A client ends before it knows whether its record exists; another client tries again.
    pub(super) fn return_record(&self, record: u64) {
        lock(&self.inserted).uncertain.push(record);
    }

    /// Acknowledged inserts, and those whose outcome nobody knows.
    pub(super) fn inserted(&self) -> (u64, u64) {
        let inserted = lock(&self.inserted);
        (inserted.acknowledged, inserted.uncertain_elsewhere + inserted.uncertain.len() as u64)
    }
}

/// Which record a request chooses.
#[derive(Debug, Clone)]
pub(super) enum RequestDistribution {
    Uniform,
    /// Zipf's law over hashed ranks.
    Zipfian(Distribution),
    /// Zipf's law over the records from the newest to the oldest.
    Latest(Distribution),
    /// Exponential over the records from the newest to the oldest.
    Exponential {
        /// Mean distance from the newest, as a share of the loaded records.
        mean: f64,
    },
    /// One after the other, from the first to the last and again.
    Sequential,
    /// A share of the operations goes to the first records.
    Hotspot {
        /// Share of the loaded records.
        data: f64,
        operations: f64,
    },
}

impl RequestDistribution {
    pub(super) fn build(options: &WorkloadOptions) -> Self {
        match options.text("requestdistribution") {
            "zipfian" => Self::Zipfian(Distribution::zipfian(EXPONENT)),
            "latest" => Self::Latest(Distribution::zipfian(EXPONENT)),
            "hotspot" => Self::Hotspot {
                data: options.float("hotspotdatafraction"),
                operations: options.float("hotspotopnfraction"),
            },
            "exponential" => Self::Exponential { mean: EXPONENTIAL_MEAN },
            "sequential" => Self::Sequential,
            _ => Self::Uniform,
        }
    }

    /// Chooses one of the readable records. `turn` is the number of the request among those of all
    /// clients.
    pub(super) fn draw(&self, random: &mut Random, turn: u64, loaded: u64, readable: u64) -> u64 {
        match self {
            Self::Uniform => random.below(readable),
            Self::Sequential => turn % readable,
            Self::Exponential { mean } => loop {
                let distance = -(1.0 - random.unit()).ln() * mean * loaded as f64;
                if let Some(record) = (readable - 1).checked_sub(distance as u64) {
                    break record;
                }
            },
            Self::Zipfian(zipfian) => {
                let rank = zipfian.draw(random, 0, RANKS - 1).unsigned_abs();
                record_of(hash(rank), loaded, readable)
            }
            Self::Latest(zipfian) => {
                let newest = readable.cast_signed() - 1;
                newest.abs_diff(zipfian.draw(random, 0, newest))
            }
            Self::Hotspot { data, operations } => {
                let hot = ((loaded as f64 * data) as u64).min(readable);
                let is_hot = random.unit() < *operations;
                match (hot, readable - hot) {
                    (_, 0) => random.below(hot),
                    (0, cold) => random.below(cold),
                    (hot, _) if is_hot => random.below(hot),
                    (hot, cold) => hot + random.below(cold),
                }
            }
        }
    }
}

/// The record that a hash stands for: the hash modulo the loaded records, as in YCSB. Inserted
/// records take over half of the hashes of one older record each (linear hashing, Litwin 1980), so
/// that all others keep theirs.
fn record_of(hash: u64, loaded: u64, readable: u64) -> u64 {
    let doubled = loaded << ((readable / loaded).ilog2() + 1);
    match hash % doubled {
        record if record < readable => record,
        _ => hash % (doubled / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    const RECORDS: u64 = 1_000;
    const DRAWS: u32 = 1_000_000;
    /// 99.9 % quantile of chi-square with 999 degrees of freedom.
    const CHI_SQUARE_MAX: f64 = 1_143.0;

    /// Chi-square of a million draws against the share of each record.
    fn chi_square(requests: &RequestDistribution, readable: u64, shares: &[f64]) -> f64 {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "the shares are complete");
        let mut counts = vec![0_u32; shares.len()];
        let mut random = Random::new(5, Stream::Transaction, 0, 0);
        for turn in 0..DRAWS {
            counts[requests.draw(&mut random, turn.into(), RECORDS, readable) as usize] += 1;
        }
        let expected = shares.iter().map(|share| share * f64::from(DRAWS));
        counts.iter().zip(expected).map(|(n, e)| (f64::from(*n) - e).powi(2) / e).sum()
    }

    fn zipf(ranks: u64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=ranks).map(|rank| (rank as f64).powf(-EXPONENT)).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// Shares of `zipfian`: those of the first million ranks one by one, and of all others together
    /// evenly. The sum of all is integrated from there on (Euler and Maclaurin; the next term is
    /// below 1e-12).
    fn hashed() -> Vec<f64> {
        const EXACT: u64 = 1_000_000;
        let weight = |rank: f64| rank.powf(-EXPONENT);
        let head: f64 = (1..=EXACT).map(|rank| weight(rank as f64)).sum();
        let integral = |x: f64| x.powf(1.0 - EXPONENT) / (1.0 - EXPONENT);
        let (from, to) = (EXACT as f64, RANKS as f64);
        let tail = integral(to) - integral(from) + (weight(to) - weight(from)) / 2.0;
        let mut shares = vec![tail / (head + tail) / RECORDS as f64; RECORDS as usize];
        for rank in 0..EXACT {
            shares[(hash(rank) % RECORDS) as usize] += weight(rank as f64 + 1.0) / (head + tail);
        }
        shares
    }

    #[test]
    fn records_are_chosen_as_often_as_the_formulas_say() {
        let zipfian = || Distribution::zipfian(EXPONENT);
        let mut latest = zipf(RECORDS);
        latest.reverse();
        let hotspot: Vec<f64> =
            (0..RECORDS).map(|at| if at < 200 { 0.8 / 200.0 } else { 0.2 / 800.0 }).collect();
        let even = vec![1.0 / RECORDS as f64; RECORDS as usize];
        let hot = RequestDistribution::Hotspot { data: 0.2, operations: 0.8 };
        let exponential = RequestDistribution::Exponential { mean: EXPONENTIAL_MEAN };
        let decay = 1.0 / (EXPONENTIAL_MEAN * RECORDS as f64);
        let all = 1.0 - (-decay * RECORDS as f64).exp();
        let share = |distance: u64| (-decay * distance as f64).exp() * -(-decay).exp_m1() / all;
        let distances: Vec<f64> = (0..RECORDS).rev().map(share).collect();
        for (requests, shares) in [
            (RequestDistribution::Uniform, even.clone()),
            (exponential, distances),
            (RequestDistribution::Zipfian(zipfian()), hashed()),
            (RequestDistribution::Latest(zipfian()), latest),
            (hot, hotspot),
        ] {
            let chi = chi_square(&requests, RECORDS, &shares);
            assert!(chi < CHI_SQUARE_MAX, "{requests:?}: chi-square {chi}");
            if !matches!(requests, RequestDistribution::Uniform) {
                let chi = chi_square(&requests, RECORDS, &even);
                assert!(chi > 10.0 * CHI_SQUARE_MAX, "{requests:?} is not uniform: {chi}");
            }
        }
    }

    #[test]
    fn sequential_cycles_records_and_exponential_prefers_newest() {
        let mut random = Random::new(5, Stream::Transaction, 0, 0);
        let mut draw =
            |requests: &RequestDistribution, turn| requests.draw(&mut random, turn, 10, 12);
        let turns: Vec<u64> =
            (0..25).map(|turn| draw(&RequestDistribution::Sequential, turn)).collect();
        assert_eq!(turns, (0..25).map(|turn| turn % 12).collect::<Vec<_>>());
        let exponential = RequestDistribution::Exponential { mean: EXPONENTIAL_MEAN };
        let newest = (0..10_000).filter(|_| draw(&exponential, 0) >= 10).count();
        // 1 - exp(-2 / 2.86) of all, divided by the share of distances below 12; four deviations.
        assert!(newest.abs_diff(5_110) < 200, "{newest}");
    }

    #[test]
    fn most_popular_record_has_rank_one_and_the_share_of_ycsb() {
        // YCSB's constant for the sum of all weights of its ten billion ranks.
        let expected = 1.0 / 26.469_028_201_783_02;
        let first = (hash(0) % RECORDS) as usize;
        let shares = hashed();
        let largest = shares.iter().copied().fold(0.0, f64::max);
        assert!((shares[first] - largest).abs() < f64::EPSILON);
        assert!((largest - expected).abs() < 0.002, "{largest} against {expected}");
    }

    #[test]
    fn all_requests_reach_inserted_records_and_never_others() {
        let zipfian = || Distribution::zipfian(EXPONENT);
        let hot = RequestDistribution::Hotspot { data: 0.2, operations: 0.8 };
        let all = [
            RequestDistribution::Uniform,
            RequestDistribution::Zipfian(zipfian()),
            RequestDistribution::Latest(zipfian()),
            RequestDistribution::Sequential,
            hot,
        ];
        for requests in all {
            for (loaded, readable) in [(1, 1), (1, 2), (10, 10), (10, 11), (10, 37), (10, 40)] {
                let mut random = Random::new(9, Stream::Transaction, 0, 0);
                let mut found = BTreeSet::new();
                for turn in 0..20_000 {
                    found.insert(requests.draw(&mut random, turn, loaded, readable));
                }
                let expected: BTreeSet<u64> = (0..readable).collect();
                assert_eq!(found, expected, "{requests:?} of {loaded}, {readable}");
            }
        }
    }

    #[test]
    fn an_insert_takes_hashes_of_one_record_only() {
        for readable in 10..45 {
            let records = |readable| (0..20_000).map(move |at| record_of(hash(at), 10, readable));
            let moved: BTreeSet<(u64, u64)> =
                records(readable).zip(records(readable + 1)).filter(|(a, b)| a != b).collect();
            assert_eq!(moved.len(), 1, "{readable}: {moved:?}");
            assert!(moved.iter().all(|(_, to)| *to == readable), "{moved:?}");
        }
    }

    #[test]
    fn keys_are_those_of_ycsb() {
        let key = |record, is_hashed, digits| {
            let mut key = String::new();
            KeyFormat { is_hashed, digits }.write(record, &mut key);
            key
        };
        assert_eq!(key(0, true, 1), "user6284781860667377211");
        assert_eq!(key(1, true, 1), "user8517097267634966620");
        assert_eq!(key(7, false, 1), "user7");
        assert_eq!(key(7, false, 6), "user000007");
    }

    #[test]
    fn generators_insert_distinct_record_numbers_without_gaps() {
        let mut numbers = BTreeSet::new();
        for generator in 0..3 {
            let records = Records::new(10);
            records.set_subset(ClientSubset::new(7, generator, 3));
            assert_eq!([0, 9].map(|record| records.key_number(record)), [0, 9]);
            let clients = u64::from(ClientSubset::new(7, generator, 3).count());
            let own = (0..clients * 4).map(|_| records.key_number(records.reserve()));
            own.for_each(|number| assert!(numbers.insert(number), "{number} twice"));
        }
        assert_eq!(numbers, (10..10 + 7 * 4).collect::<BTreeSet<u64>>());
        let all = Records::new(10);
        all.set_subset(ClientSubset::whole(7));
        assert_eq!(all.key_number(all.reserve()), 10);
        all.add(5, 2);
        assert_eq!(all.inserted(), (5, 2));
    }

    #[test]
    fn records_become_readable_in_order_of_their_numbers() {
        let records = Records::new(10);
        let [a, b, c] = [records.reserve(), records.reserve(), records.reserve()];
        assert_eq!([a, b, c], [10, 11, 12]);
        records.acknowledge(c);
        records.acknowledge(b);
        assert_eq!((records.readable(), records.inserted()), (10, (2, 0)));
        records.return_record(a);
        assert_eq!(records.inserted(), (2, 1));
        assert_eq!(records.reserve(), a, "another client tries the same number");
        records.acknowledge(a);
        assert_eq!((records.readable(), records.inserted()), (13, (3, 0)));
        assert_eq!(records.reserve(), 13);
    }
}
