//! A generator of random numbers that the crates share.

/// Sebastiano Vigna's SplitMix64 (public domain, <https://prng.di.unimi.it/splitmix64.c>): 64 bits of state, period
/// 2^64, every seed is good. The run order of a seed is part of what can be repeated, so the generator is ours and
/// never changes.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0, each equally likely: draws that would favour small numbers are thrown
    /// away.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let unfair = u64::MAX - u64::MAX % bound;
        loop {
            let draw = self.bits();
            if draw < unfair {
                return draw % bound;
            }
        }
    }
}
