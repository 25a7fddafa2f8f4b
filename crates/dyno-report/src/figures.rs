//! Formatting of numbers, with the same digits and separators in all languages. Renderers get the
//! text of every number from here.

pub(crate) use dyno_analysis::figures::{count, digits, megabytes, rate};

use dyno_analysis::figures::{decimals, group};
use dyno_analysis::model::{Estimate, LimitRow, Range, RatioBound, Unit};
use dyno_model::limit::{LimitMetric, LimitPart};
use dyno_model::plan::ComparisonMetric;
use dyno_model::search::Search;

/// A signed integer with grouped thousands.
pub(crate) fn integer(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", count(value.unsigned_abs()))
}

/// A percentage with its sign: `11.8 %`, `0.12 %`, `100 %`. Values below 0.01 are shown as `< 0.01
/// %`, because `0 %` would mean none at all.
pub(crate) fn percent(hundredths: f64) -> String {
    match hundredths {
        0.0 => "0 %".to_owned(),
        value if value.abs() < 0.01 => "< 0.01 %".to_owned(),
        value if value.abs() < 1.0 => format!("{value:.2} %"),
        value if value.abs() < 99.95 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

/// A rounded percentage without its sign: `23`, `5.9`, `0.12`.
pub(crate) fn share(hundredths: f64) -> String {
    match hundredths.abs() {
        ..0.995 => format!("{hundredths:.2}"),
        ..9.95 => format!("{hundredths:.1}"),
        _ => format!("{hundredths:.0}"),
    }
}

/// By how many percent a ratio is below 1: `21`, `94.9`, `99.96`. The remainder keeps two digits.
pub(crate) fn lower(ratio: f64) -> String {
    match ratio * 100.0 {
        ..0.995 => format!("{:.2}", 100.0 - (ratio * 100.0).max(0.01)),
        ..9.95 => format!("{:.1}", 100.0 - ratio * 100.0),
        _ => share((1.0 - ratio) * 100.0),
    }
}

/// A difference in percent, with its direction: `+12 %`, `-2.1 %`.
pub(crate) fn difference(hundredths: f64) -> String {
    let sign = if hundredths < 0.0 { "-" } else { "+" };
    format!("{sign}{} %", share(hundredths.abs()))
}

/// A configured limit in percent: `5 %`, `2.5 %`. Unlike a measured share it is exact, so it has no
/// more decimals than it needs.
pub(crate) fn limit(hundredths: f64) -> String {
    format!("{} %", (hundredths * 1000.0).round() / 1000.0)
}

/// Confidence level of an interval, from 0 to 1: `95 %`, `99.2 %`, `99.95 %`; the error probability
/// keeps two significant digits.
pub(crate) fn level(confidence: f64) -> String {
    let risk = 100.0 * (1.0 - confidence).max(1e-9);
    let decimals = (1.0 - risk.log10().floor()).max(0.0) as usize;
    let text = format!("{:.decimals$}", 100.0 * confidence);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A number rounded to two significant digits: `42`, `310`, `20,000`.
pub(crate) fn about(value: u64) -> String {
    let step = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count((value + step / 2) / step * step)
}

/// A ratio with two decimals (three below 0.1): `1.32`, `0.054`. Values below 0.001 are shown as `<
/// 0.001`, because `0.000` would mean that nothing was left.
pub(crate) fn ratio(value: f64) -> String {
    if value > 0.0 && value < 0.000_5 {
        "< 0.001".to_owned()
    } else if value.abs() >= 99.95 {
        digits(value)
    } else if value.abs() >= 9.995 {
        format!("{value:.1}")
    } else if value.abs() >= 0.0995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// The bounds of an interval of a ratio. If the interval spans more than a factor of 1000, extreme
/// bounds are abbreviated: `< 0.01`, `> 100`.
pub(crate) fn ends(Range { low, high }: Range) -> [String; 2] {
    let says_little = high > 1_000.0 * low;
    [
        if says_little && low < 0.01 { "< 0.01".to_owned() } else { ratio(low) },
        if says_little && high > 100.0 { "> 100".to_owned() } else { ratio(high) },
    ]
}

/// The smallest detectable difference, given as `1 + effect`: `5.8 %`, from a doubling on `4.9×`,
/// and `> 100×` if no realistic difference was detectable.
pub(crate) fn detectable(effect: f64) -> String {
    match effect {
        ..2.0 => percent((effect - 1.0) * 100.0),
        ..=100.0 => format!("{}×", ratio(effect)),
        _ => "> 100×".to_owned(),
    }
}

/// A formatted figure: `95.0`, or `≥ 95.0` when it is only a lower bound. All figures that may be
/// bounds are formatted here.
pub(crate) fn bounded(value: String, is_bound: bool) -> String {
    if is_bound { format!("≥ {value}") } else { value }
}

/// The mean of an estimate in its unit, without the unit's symbol.
pub(crate) fn mean(estimate: &Estimate) -> String {
    bounded(value(estimate.unit, estimate.mean), estimate.is_bound)
}

/// A ratio of which one side may be a lower bound: `1.32`, `≥ 1.32`, `≤ 0.80`.
pub(crate) fn bounded_ratio(value: f64, bound: Option<RatioBound>) -> String {
    match bound {
        Some(RatioBound::AtMost) => format!("≤ {}", ratio(value)),
        bound => bounded(ratio(value), bound.is_some()),
    }
}

/// A p-value: `0.032`, `< 0.001`.
pub(crate) fn p_value(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { format!("{value:.3}") }
}

/// A value in its unit, without the unit's symbol.
pub(crate) fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Percent => percent(value),
        Unit::Ratio => ratio(value),
        Unit::Count => group(&format!("{value:.0}")),
        Unit::Bytes => digits(value / 1e6),
        Unit::TransactionsPerSecond
        | Unit::TransactionsPerMinute
        | Unit::RowsPerSecond
        | Unit::Milliseconds
        | Unit::Microseconds
        | Unit::Seconds => digits(value),
    }
}

/// Symbol of a unit, the same in all languages; empty if the formatted value already contains it or
/// needs none.
pub(crate) fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::TransactionsPerSecond => "tx/s",
        Unit::TransactionsPerMinute => "tx/min",
        Unit::RowsPerSecond => "rows/s",
        Unit::Milliseconds => "ms",
        Unit::Microseconds => "µs",
        Unit::Seconds => "s",
        Unit::Bytes => "MB",
        Unit::Percent | Unit::Count | Unit::Ratio => "",
    }
}

/// A limit in the syntax of a spec, such as `p99 < 20 ms`; the same in all languages.
pub(crate) fn limit_on(metric: LimitMetric, value: f64) -> String {
    let sign = if metric.is_floor() { '>' } else { '<' };
    match metric {
        LimitMetric::Lost => format!("{metric} = 0"),
        _ => format!("{metric} {sign} {}", limit_value(metric, value)),
    }
}

/// The threshold of a limit, with its unit: `20 ms`.
pub(crate) fn limit_value(metric: LimitMetric, value: f64) -> String {
    let number =
        if value.fract() == 0.0 { group(&format!("{value:.0}")) } else { value.to_string() };
    match metric {
        LimitMetric::Lost => number,
        LimitMetric::Failed => format!("{number} %"),
        LimitMetric::Throughput => format!("{number}/s"),
        _ => format!("{number} ms"),
    }
}

/// A limit on a part of a trial: `p99 < 20 ms (spike)`.
pub(crate) fn limit_in(part: Option<&LimitPart>, metric: LimitMetric, value: f64) -> String {
    let limit = limit_on(metric, value);
    part.map_or(limit.clone(), |part| format!("{limit} ({})", part.name()))
}

/// The limit of a saturation search: `p99 < 20 ms (list)`.
pub(crate) fn limit_of(search: &Search) -> String {
    let part = search.transaction.clone().map(LimitPart::Transaction);
    limit_in(part.as_ref(), search.metric, search.below)
}

/// A measured figure in the unit of a limit.
pub(crate) fn of_limit(metric: LimitMetric, figure: f64) -> String {
    match metric.metric() {
        Some(ComparisonMetric::Throughput) => format!("{}/s", digits(figure)),
        Some(_) => format!("{} ms", digits(figure)),
        None if metric == LimitMetric::Lost => count(figure as u64),
        None => percent(figure),
    }
}

/// The figure of a limit, with the lower percentile that it is if trials have too few transactions.
pub(crate) fn limited(row: &LimitRow) -> Option<String> {
    let figure = bounded(of_limit(row.metric, row.figure?), row.is_bound);
    Some(match row.lower_percentile {
        Some(lower) => format!("{figure} ({lower})"),
        None => figure,
    })
}

/// Distance from an estimate's mean to the upper end of its interval, with as many decimals as the
/// mean; `None` without an interval. The interval is symmetric on a logarithmic scale, so that the
/// lower end is closer.
pub(crate) fn half_width(estimate: &Estimate) -> Option<String> {
    let interval = estimate.interval?;
    let decimals = decimals(estimate.mean);
    let text = format!("{:.decimals$}", interval.high - estimate.mean);
    Some(if decimals == 0 { group(&text) } else { text })
}

/// Minimum number of values for which a chart draws an interval; with fewer, it draws the values.
pub(crate) const DRAWN_FROM: u32 = 4;

/// The interval that a chart draws around an estimate.
pub(crate) fn drawn_interval(estimate: &Estimate) -> Option<(f64, f64)> {
    let interval = estimate.interval.filter(|_| estimate.repeats >= DRAWN_FROM)?;
    Some((interval.low, interval.high))
}

/// Minimum and maximum, with a separator where they differ.
pub(crate) fn range(min: String, max: &str, between: &str) -> String {
    if min == max { min } else { min + between + max }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_says_little_has_no_figures_that_say_much() {
        for (low, high, text) in [
            (0.79, 1.32, ["0.79", "1.32"]),
            (1e-9, 8.6e9, ["< 0.01", "> 100"]),
            (0.5, 12_601.0, ["0.50", "> 100"]),
            (0.002, 3.1, ["< 0.01", "3.10"]),
            (0.002, 0.004, ["0.002", "0.004"]),
            (250.0, 900.0, ["250", "900"]),
        ] {
            assert_eq!(ends(Range { low, high }), text);
        }
    }

    #[test]
    fn a_confidence_keeps_two_digits_of_the_risk() {
        for (confidence, text) in [
            (0.95, "95 %"),
            (0.9, "90 %"),
            (1.0 - 0.05 / 6.0, "99.17 %"),
            (0.9975, "99.75 %"),
            (1.0 - 0.05 / 24.0, "99.79 %"),
        ] {
            assert_eq!(level(confidence), text);
        }
    }
    use dyno_analysis::model::Range;

    #[test]
    fn a_small_share_is_never_shown_as_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_6), "< 0.01 %");
        assert_eq!(percent(0.12), "0.12 %");
        assert_eq!(percent(11.84), "11.8 %");
        assert_eq!(percent(100.0), "100 %");
    }

    #[test]
    fn differences_have_a_sign_and_two_significant_digits() {
        for (hundredths, text) in [
            (-45.3, "-45 %"),
            (5.91, "+5.9 %"),
            (-0.12, "-0.12 %"),
            (0.0, "+0.00 %"),
            (120.4, "+120 %"),
        ] {
            assert_eq!(difference(hundredths), text);
        }
    }

    #[test]
    fn a_limit_reads_as_its_spec_has_it() {
        let rows = [
            (LimitMetric::P99, 20.0, "p99 < 20 ms"),
            (LimitMetric::Mean, 0.25, "mean < 0.25 ms"),
            (LimitMetric::Throughput, 5_000.0, "throughput > 5,000/s"),
            (LimitMetric::Failed, 0.1, "failed < 0.1 %"),
            (LimitMetric::Lost, 0.0, "lost = 0"),
        ];
        for (metric, value, text) in rows {
            assert_eq!(limit_on(metric, value), text);
            assert_eq!(limit_in(None, metric, value), text);
            assert_eq!(
                limit_in(Some(&LimitPart::Stage("spike".to_owned())), metric, value),
                format!("{text} (spike)")
            );
        }
    }

    #[test]
    fn a_chosen_limit_has_no_needless_decimals() {
        assert_eq!(limit(0.05 * 100.0), "5 %");
        assert_eq!(limit(0.07 * 100.0), "7 %");
        assert_eq!(limit(2.5), "2.5 %");
    }

    #[test]
    fn a_lower_bound_is_never_shown_as_a_value() {
        let estimate = Estimate {
            unit: Unit::Milliseconds,
            mean: 95.04,
            interval: None,
            repeats: 3,
            is_bound: true,
        };
        assert_eq!(mean(&estimate), "≥ 95.0");
        assert_eq!(mean(&Estimate { is_bound: false, ..estimate }), "95.0");
        assert_eq!(bounded_ratio(1.318, Some(RatioBound::AtLeast)), "≥ 1.32");
        assert_eq!(bounded_ratio(0.8, Some(RatioBound::AtMost)), "≤ 0.80");
        assert_eq!(bounded_ratio(0.8, None), "0.80");
    }

    #[test]
    fn a_visible_difference_is_a_factor_from_a_doubling_on() {
        assert_eq!(
            [1.058, 1.99, 4.89, 39_631.0].map(detectable),
            ["5.8 %", "99.0 %", "4.89×", "> 100×"]
        );
    }

    #[test]
    fn ratios_keep_two_decimals() {
        assert_eq!(ratio(1.3249), "1.32");
        assert_eq!(ratio(0.0543), "0.054");
        assert_eq!(ratio(12.34), "12.3");
        assert_eq!(ratio(1234.0), "1,234");
        assert_eq!([0.000_2, 0.0].map(ratio), ["< 0.001", "0.000"]);
    }

    #[test]
    fn approximate_counts_are_rounded_to_two_significant_digits() {
        assert_eq!(
            [0, 7, 42, 313, 385, 9_960, 19_503].map(about),
            ["0", "7", "42", "310", "390", "10,000", "20,000"]
        );
    }

    #[test]
    fn half_widths_are_shown_as_exactly_as_their_mean() {
        let estimate = Estimate {
            unit: Unit::TransactionsPerSecond,
            mean: 5123.0,
            interval: Some(Range { low: 5000.6, high: 5245.4 }),
            repeats: 5,
            is_bound: false,
        };
        assert_eq!(half_width(&estimate).as_deref(), Some("122"));
        let one = Estimate { interval: None, ..estimate };
        assert_eq!(half_width(&one), None);
    }

    #[test]
    fn tiny_p_values_are_bounded_not_rounded_to_zero() {
        assert_eq!(p_value(0.000_02), "< 0.001");
        assert_eq!(p_value(0.0321), "0.032");
    }
}
