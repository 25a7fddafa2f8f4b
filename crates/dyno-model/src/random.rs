//! Random number generator shared by the crates.

/// Sebastiano Vigna's SplitMix64 (public domain, <https://prng.di.unimi.it/splitmix64.c>): 64 bits
/// of state, period 2^64, every seed is good. The run order of a seed must be reproducible, so the
/// generator is our own and never changes.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

/// Increment of the state per step.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bijective mix of 64 bits, so that neighbouring states give unrelated outputs.
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

    /// A uniformly distributed number below `bound`, which must not be 0. Draws that would bias the
    /// result towards small numbers are rejected.
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
