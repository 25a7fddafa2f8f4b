//! Scales: the mapping from a quantity to a coordinate, and the round values at which an axis is
//! labelled.
//!
//! Every function here accepts any input (no values, one value, NaN, infinities, zero on a
//! logarithmic axis) and returns finite coordinates inside the range, because the report of a
//! failed trial must still have a valid picture.

/// How an axis maps quantities to distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScaleKind {
    /// Equal differences have equal distances.
    Linear,
    /// Equal factors have equal distances.
    Logarithmic,
}

/// One axis: the mapping of an interval of quantities to an interval of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    spread: ScaleKind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Largest quantity that an axis shows; keeps arithmetic on ranges finite.
const LARGEST: f64 = 1e300;
/// Smallest positive quantity that a logarithmic axis shows.
const SMALLEST: f64 = 1e-300;

impl Scale {
    /// A linear axis from `low` to `high`, drawn from `from` to `to` (which may be descending, as
    /// for a y axis).
    pub(crate) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = widened(clamped(low), clamped(high));
        Self { spread: ScaleKind::Linear, low, high, from, to }
    }

    /// A logarithmic axis. Bounds that are not positive are replaced by the nearest ones that can
    /// be shown.
    pub(crate) fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = (clamped(low), clamped(high));
        let (low, high) = match (low > 0.0, high > 0.0) {
            (true, true) => (low.min(high), low.max(high)),
            (false, true) => (high / 1e3, high),
            (true, false) => (low, low * 1e3),
            (false, false) => (1.0, 10.0),
        };
        let (low, high) = (low.clamp(SMALLEST, LARGEST), high.clamp(SMALLEST, LARGEST));
        let (low, high) = if high / low < 1.0001 { (low / 2.0, high * 2.0) } else { (low, high) };
        Self { spread: ScaleKind::Logarithmic, low, high, from, to }
    }

    pub(crate) fn new(spread: ScaleKind, low: f64, high: f64, from: f64, to: f64) -> Self {
        match spread {
            ScaleKind::Linear => Self::linear(low, high, from, to),
            ScaleKind::Logarithmic => Self::logarithmic(low, high, from, to),
        }
    }

    pub(crate) fn spread(&self) -> ScaleKind {
        self.spread
    }

    /// The interval of quantities shown.
    pub(crate) fn domain(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Coordinate of a quantity. Quantities beyond the axis are placed at its end, NaN at its
    /// beginning.
    pub(crate) fn at(&self, value: f64) -> f64 {
        if value.is_nan() {
            return self.from;
        }
        let value = value.clamp(self.low, self.high);
        let share = match self.spread {
            ScaleKind::Linear => (value - self.low) / (self.high - self.low),
            ScaleKind::Logarithmic => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
        };
        self.from + share * (self.to - self.from)
    }

    /// Whether the quantity is inside the axis (and not merely placed at an end).
    pub(crate) fn shows(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// About `wanted` round quantities of the axis in ascending order; at least one for any axis.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<f64> {
        let wanted = wanted.clamp(2, 20);
        match self.spread {
            ScaleKind::Linear => linear_ticks(self.low, self.high, wanted),
            ScaleKind::Logarithmic => logarithmic_ticks(self.low, self.high, wanted),
        }
    }
}

/// The end of an axis that begins at zero; 1 if all values are zero.
pub(crate) fn or_one(top: f64) -> f64 {
    if top > 0.0 { top } else { 1.0 }
}

/// The interval, extended so that both ends are ticks.
pub(crate) fn rounded_out(spread: ScaleKind, low: f64, high: f64, wanted: usize) -> (f64, f64) {
    let axis = Scale::new(spread, low, high, 0.0, 1.0);
    let (low, high) = axis.domain();
    match spread {
        ScaleKind::Linear => {
            let step = round_step((high - low) / wanted.max(1) as f64);
            ((low / step).floor() * step, (high / step).ceil() * step)
        }
        ScaleKind::Logarithmic => (round_below(low), round_above(high)),
    }
}

/// The spread under which the closest two of these levels are farther apart (relative to the whole
/// axis): numbers of clients such as 1, 20, 40, 60 need a linear axis, 1, 2, 4, 8 a logarithmic
/// one.
pub(crate) fn spread_for_levels(levels: &[f64]) -> ScaleKind {
    let mut levels: Vec<f64> = levels.iter().copied().filter(|level| level.is_finite()).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let (Some(&first), Some(&last)) = (levels.first(), levels.last()) else {
        return ScaleKind::Linear;
    };
    if levels.len() < 3 || first <= 0.0 {
        return ScaleKind::Linear;
    }
    let closest = |position: fn(f64) -> f64| {
        let whole = position(last) - position(first);
        levels
            .windows(2)
            .map(|pair| (position(pair[1]) - position(pair[0])) / whole)
            .fold(f64::INFINITY, f64::min)
    };
    if closest(f64::ln) > closest(|level| level) {
        ScaleKind::Logarithmic
    } else {
        ScaleKind::Linear
    }
}

fn clamped(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-LARGEST, LARGEST) }
}

/// Bounds in ascending order, and not equal.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.min(high), low.max(high));
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 {
        (low, high)
    } else if size == 0.0 {
        (0.0, 1.0)
    } else {
        (low - size * 0.5, high + size * 0.5)
    }
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `raw`.
fn round_step(raw: f64) -> f64 {
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(raw.log10().floor());
    let factor = raw / power;
    let nice =
        [1.0, 2.0, 2.5, 5.0].into_iter().find(|nice| factor <= nice * (1.0 + 1e-9)).unwrap_or(10.0);
    nice * power
}

/// The largest of 1, 2, 5 times a power of ten that is at most `value`.
fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = value / power;
    let nice = [5.0, 2.0].into_iter().find(|nice| factor >= nice * (1.0 - 1e-9)).unwrap_or(1.0);
    nice * power
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `value`.
fn round_above(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = value / power;
    let nice =
        [1.0, 2.0, 5.0].into_iter().find(|nice| factor <= nice * (1.0 + 1e-9)).unwrap_or(10.0);
    nice * power
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let step = round_step((high - low) / wanted as f64);
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let count = (last - first).clamp(0.0, 40.0) as usize;
    // Adding 0 turns -0 into 0, which would be labelled "-0".
    (0..=count).map(|i| (first + i as f64) * step + 0.0).collect()
}

fn logarithmic_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let decades = high.log10() - low.log10();
    let within = |value: &f64| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9);
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    let of = |factors: &[f64], every: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(every.max(1));
        powers
            .flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)))
            .filter(within)
            .collect()
    };
    let fine = of(&[1.0, 2.0, 5.0], 1);
    if fine.len() < 2 || decades < 0.5 {
        // Less than half a decade: round steps are easier to read than powers.
        return linear_ticks(low, high, wanted).into_iter().filter(|tick| *tick > 0.0).collect();
    }
    if fine.len() <= wanted + 1 {
        return fine;
    }
    let coarse = of(&[1.0], 1);
    if coarse.len() < 2 {
        return fine;
    }
    if coarse.len() <= wanted + 1 {
        return coarse;
    }
    of(&[1.0], coarse.len().div_ceil(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn linear_ticks_are_round_numbers_inside_the_axis() {
        let rows: [(f64, f64, usize, &[f64]); 5] = [
            (0.0, 1800.0, 5, &[0.0, 500.0, 1000.0, 1500.0]),
            (0.0, 1.0, 5, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (-3.0, 3.0, 3, &[-2.0, 0.0, 2.0]),
            (0.0, 10.0, 4, &[0.0, 2.5, 5.0, 7.5, 10.0]),
            (95.0, 105.0, 5, &[96.0, 98.0, 100.0, 102.0, 104.0]),
        ];
        for (low, high, wanted, expected) in rows {
            let ticks = Scale::linear(low, high, 0.0, 100.0).ticks(wanted);
            assert_eq!(ticks.len(), expected.len(), "{low} to {high}: {ticks:?}");
            for (tick, expected) in ticks.iter().zip(expected) {
                assert!((tick - expected).abs() < 1e-9, "{low} to {high}: {ticks:?}");
            }
        }
    }

    #[test]
    fn logarithmic_ticks_thin_out_with_the_number_of_decades() {
        let ticks = |low, high| Scale::logarithmic(low, high, 0.0, 100.0).ticks(5);
        let show = |low, high| {
            ticks(low, high).iter().map(|t| format!("{t:.0}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(show(1.0, 50.0), "1 2 5 10 20 50");
        assert_eq!(show(1.0, 10_000.0), "1 10 100 1000 10000");
        assert_eq!(show(1.0, 1e12), "1 1000 1000000 1000000000 1000000000000");
        assert_eq!(show(100.0, 140.0), "100 110 120 130 140");
    }

    #[test]
    fn an_axis_without_extent_still_places_its_value_inside() {
        for scale in [Scale::linear(5.0, 5.0, 0.0, 100.0), Scale::logarithmic(5.0, 5.0, 0.0, 100.0)]
        {
            assert!(scale.at(5.0) > 0.0 && scale.at(5.0) < 100.0, "{scale:?}");
            assert!(!scale.ticks(5).is_empty());
        }
        assert_eq!(Scale::linear(0.0, 0.0, 0.0, 100.0).domain(), (0.0, 1.0));
    }

    #[test]
    fn zero_on_a_logarithmic_axis_is_placed_at_its_beginning() {
        let scale = Scale::logarithmic(0.0, 1000.0, 300.0, 20.0);
        assert!((scale.at(0.0) - 300.0).abs() < 1e-9);
        assert!((scale.at(1000.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn rounding_out_ends_at_ticks() {
        assert_eq!(rounded_out(ScaleKind::Linear, 0.0, 1830.0, 4), (0.0, 2000.0));
        assert_eq!(rounded_out(ScaleKind::Logarithmic, 0.3, 47.0, 4), (0.2, 50.0));
    }

    #[test]
    fn even_steps_want_a_linear_axis_and_doublings_a_logarithmic_one() {
        assert_eq!(spread_for_levels(&[1.0, 20.0, 40.0, 60.0, 80.0, 100.0]), ScaleKind::Linear);
        assert_eq!(spread_for_levels(&[1.0, 2.0, 4.0, 8.0]), ScaleKind::Logarithmic);
        assert_eq!(spread_for_levels(&[1.0, 16.0, 64.0, 256.0, 1000.0]), ScaleKind::Logarithmic);
        assert_eq!(spread_for_levels(&[8.0]), ScaleKind::Linear);
        assert_eq!(spread_for_levels(&[]), ScaleKind::Linear);
    }

    proptest! {
        #[test]
        fn any_value_on_any_axis_is_placed_inside_the_range(
            low in proptest::num::f64::ANY, high in proptest::num::f64::ANY, value in proptest::num::f64::ANY,
            logarithmic in proptest::bool::ANY, wanted in 0usize..30,
        ) {
            let spread = if logarithmic { ScaleKind::Logarithmic } else { ScaleKind::Linear };
            let scale = Scale::new(spread, low, high, 300.0, 20.0);
            let position = scale.at(value);
            prop_assert!((19.999..=300.001).contains(&position), "{scale:?} placed {value} at {position}");
            let ticks = scale.ticks(wanted);
            prop_assert!(!ticks.is_empty() && ticks.len() <= 61, "{scale:?}: {ticks:?}");
            prop_assert!(ticks.iter().all(|tick| tick.is_finite()));
        }
    }
}
