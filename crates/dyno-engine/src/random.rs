//! Seeded random numbers: one seed per experiment, independent streams derived from it. Data depend
//! on the seed alone; the random choices of a trial depend on the seed and the trial
//! ([`trial_seed`]).

use dyno_model::random::{GOLDEN, SplitMix64, mix};

/// Letters and digits.
pub const ALPHANUMERIC: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Seeding is free, so every transaction has its own generator and can be repeated exactly.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

/// The streams derived from a seed. Each use has its own stream, so that an additional draw in one
/// does not shift the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Keys and values of transactions.
    Transaction = 1,
    /// Rows of tables.
    Data = 2,
    /// Pauses before retries.
    Backoff = 3,
    /// Times at which transactions arrive in an open loop.
    Arrival = 4,
    /// Random delays of a trial's faults.
    Fault = 5,
    /// Think times of clients.
    Think = 6,
    /// Choice between several scripts.
    Choice = 7,
}

/// The seed of all random choices of a trial: keys and values of its transactions, pauses,
/// arrivals. It depends on the experiment's seed and the trial's id, so that no trial requests the
/// keys that the previous one left in the server's caches, and every block has different arrivals.
/// A trial that is repeated by name, or measured when a run is resumed, draws the same values as
/// the first time.
#[must_use]
pub fn trial_seed(seed: u64, trial: &str) -> u64 {
    trial.bytes().fold(mix(seed.wrapping_add(GOLDEN)), |state, byte| {
        mix((state ^ u64::from(byte)).wrapping_add(GOLDEN))
    })
}

impl Random {
    /// The generator of one item of a stream; (seed, stream, a, b) determines all its values.
    #[must_use]
    pub fn new(seed: u64, stream: Stream, a: u64, b: u64) -> Self {
        let state = mix(seed.wrapping_add(GOLDEN.wrapping_mul(stream as u64)));
        let state = mix(state ^ a.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self(SplitMix64(mix(state.wrapping_add(b.wrapping_mul(0xA24B_AED4_963E_E407)))))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0..bound, by multiplication (Lemire 2019, without the rejection step: for bounds
    /// below 2^40 the bias is below 1 in 10^7).
    ///
    /// # Panics
    /// When the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a random number below 0 does not exist");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in low..=high.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64 + 1) as i64
    }

    /// Fills with characters of an alphabet, each uniform.
    pub fn characters(&mut self, alphabet: &[u8], out: &mut [u8]) {
        for group in out.chunks_mut(10) {
            let mut bits = self.next_u64();
            for character in group {
                let wide = u128::from(bits) * alphabet.len() as u128;
                *character = alphabet[(wide >> 64) as usize];
                bits = wide as u64;
            }
        }
    }

    /// Fills with decimal digits, each uniform.
    pub fn digits(&mut self, out: &mut [u8]) {
        for group in out.chunks_mut(16) {
            let mut bits = self.next_u64();
            // Ten digits fit the high half of each 32-bit multiplication; two draws of eight digits
            // per 64 bits.
            for half in group.chunks_mut(8) {
                let mut value = ((bits & 0xFFFF_FFFF) * 100_000_000) >> 32;
                bits >>= 32;
                for digit in half.iter_mut().rev() {
                    *digit = b'0' + (value % 10) as u8;
                    value /= 10;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_item_of_a_stream_draws_the_same() {
        let draw = |b| Random::new(7, Stream::Transaction, 3, b).next_u64();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn streams_do_not_touch_each_other() {
        let a = Random::new(7, Stream::Transaction, 3, 5).next_u64();
        let b = Random::new(7, Stream::Data, 3, 5).next_u64();
        assert_ne!(a, b);
    }

    #[test]
    fn every_trial_of_every_experiment_has_a_seed_of_its_own() {
        let mut seeds: Vec<u64> = (0..50)
            .flat_map(|seed| (1..=20).map(move |block| (seed, block)))
            .flat_map(|(seed, block)| {
                (1..=20).map(move |trial| (seed, format!("b{block:02}-{trial:03}")))
            })
            .map(|(seed, trial)| trial_seed(seed, &trial))
            .collect();
        // Later versions must be able to repeat a run.
        assert_eq!(trial_seed(1, "b01-001"), 16_773_736_186_567_880_652);
        let all = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), all);
    }

    #[test]
    fn bounded_numbers_are_uniform_by_chi_square() {
        let mut random = Random::new(1, Stream::Transaction, 0, 0);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        // 99.9 % quantile of chi-square with 9 degrees of freedom.
        assert!(chi < 27.88, "chi-square {chi}");
    }

    #[test]
    fn digits_are_uniform_in_every_position() {
        let mut random = Random::new(1, Stream::Data, 0, 0);
        let mut counts = [[0_u32; 10]; 20];
        for _ in 0..20_000 {
            let mut digits = [0; 20];
            random.digits(&mut digits);
            for (position, digit) in digits.iter().enumerate() {
                counts[position][usize::from(digit - b'0')] += 1;
            }
        }
        for position in counts {
            let chi: f64 =
                position.iter().map(|&n| (f64::from(n) - 2_000.0).powi(2) / 2_000.0).sum();
            assert!(chi < 33.7, "chi-square {chi}");
        }
    }
}
