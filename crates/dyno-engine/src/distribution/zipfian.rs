//! Bounded Zipf numbers by rejection-inversion.

use crate::random::Random;

/// Draws ranks 1..=n with probability proportional to `rank^-exponent`, for any n, in constant
/// time.
///
/// W. Hörmann, G. Derflinger: "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6 (1996). With h(x) = x^-s and its integral H, a uniform number
/// between H(1.5)-1 and H(n+0.5) is inverted to x, rounded to k, and accepted when it lies under
/// the histogram bar of k. The acceptance rate is above 90 % for the usual exponents.
#[derive(Debug, Clone)]
pub struct Zipfian {
    exponent: f64,
    /// H(1.5) - 1: lower end of the range that is inverted.
    low: f64,
    /// Within this distance of k - x no comparison is needed.
    shortcut: f64,
}

impl Zipfian {
    pub(super) fn new(exponent: f64) -> Self {
        let mut zipfian = Self { exponent, low: 0.0, shortcut: 0.0 };
        zipfian.low = zipfian.integral(1.5) - 1.0;
        zipfian.shortcut = 2.0 - zipfian.inverse(zipfian.integral(2.5) - 2.0_f64.powf(-exponent));
        zipfian
    }

    /// H(x) = (x^(1-s) - 1) / (1-s), and ln x at s = 1; written with expm1 so that it is exact near
    /// s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_ratio((1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, value: f64) -> f64 {
        // Rounding may push the argument of the logarithm slightly below -1.
        let t = (value * (1.0 - self.exponent)).max(-1.0);
        (ln1p_ratio(t) * value).exp()
    }

    /// A rank from 1..=n.
    pub(super) fn rank(&self, random: &mut Random, n: u64) -> u64 {
        let high = self.integral(n as f64 + 0.5);
        loop {
            let u = high + random.unit() * (self.low - high);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, n as f64);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - k.powf(-self.exponent) {
                return k as u64;
            }
        }
    }
}

/// (e^x - 1) / x, defined at 0.
fn expm1_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
}

/// ln(1 + x) / x, defined at 0.
fn ln1p_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * (0.5 - x / 3.0) }
}
