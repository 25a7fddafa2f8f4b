//! Random numbers of pgbench's scripts, bit for bit: with the same `--random-seed` a client draws
//! the same numbers as in pgbench. The tests contain numbers printed by pgbench 15.
//!
//! * [`Generator`]: xoroshiro128** seeded by SplitMix64; [`distribution`]: uniform, normal,
//!   exponential, Zipf, Poisson;
//! * [`scramble`]: the hash functions and the pseudorandom permutation.

pub(crate) mod distribution;
pub(crate) mod scramble;

use dyno_model::random::SplitMix64;

/// xoroshiro128** 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators",
/// 2018).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generator {
    low: u64,
    high: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = SplitMix64(seed);
        Self { low: state.bits(), high: state.bits() }
    }

    /// A separate generator for a client, seeded with the next number of this one.
    pub(crate) fn derive(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        let mixed = self.high ^ self.low;
        let value = self.low.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.low = self.low.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.high = mixed.rotate_left(37);
        value
    }

    /// Uniform in [0, 1), 52 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 12) as f64 / (1_u64 << 52) as f64
    }

    /// Uniform in 0..=last, without bias: numbers of as many bits as `last` has, until one fits.
    pub(crate) fn up_to(&mut self, last: u64) -> u64 {
        if last == 0 {
            return 0;
        }
        let shift = last.leading_zeros();
        loop {
            let value = self.bits() >> shift;
            if value <= last {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_draws_as_in_pgbench() {
        // pgbench --random-seed=42 with one client: its first draws from random(1, 1000000) and
        // random(-5, 5), and its default_seed, which is drawn after the clients' own seeds.
        let mut base = Generator::new(42);
        let mut client = base.derive();
        assert_eq!(distribution::uniform(&mut client, 1, 1_000_000), 668_251);
        assert_eq!(distribution::uniform(&mut client, -5, 5), 5);
        assert_eq!(base.bits() as i64, 4_306_334_408_478_191_133);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut generator = Generator::new(1);
        let mut seen = [false; 6];
        for _ in 0..1_000 {
            seen[generator.up_to(5) as usize] = true;
        }
        assert_eq!(seen, [true; 6]);
        assert_eq!(generator.up_to(0), 0);
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&generator.unit())));
    }
}
