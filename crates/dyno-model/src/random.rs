//! A generator of random numbers that the crates share.

/// Sebastiano Vigna's SplitMix64 (public domain, <https://prng.di.unimi.it/splitmix64.c>): 64 bits
/// of state, period 2^64, every seed is good. The run order of a seed is part of what can be
/// repeated, so the generator is ours and never changes.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

/// What each step adds to the state.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Maps 64 bits onto themselves one to one, so that neighbours have nothing in common.
#[inline]
#[must_use]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl SplitMix64 {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, which is not 0, each equally likely: draws that would favour small
    /// numbers are thrown away.
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
