//! Repeatable noise for tests.

/// xorshift64*.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Sum of twelve uniform numbers minus six: nearly standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}
