//! Estimated text widths, and the format of quantities on axes.
//!
//! Fonts cannot be measured here, because the reader's fonts are unknown; widths are conservative
//! estimates, and charts position text by its anchor (start, middle, end) so that a wrong estimate
//! does not move it.

use crate::breaks;
use crate::figures;
use dyno_model::plan::ComparisonMetric;
use dyno_model::units::Nanos;

/// Estimated width of a text in em: 1 for wide East Asian characters, less for Latin ones by their
/// shape. A conservative estimate for the usual sans-serif faces, based on DejaVu Sans, the widest
/// of them.
pub(crate) fn width_em(text: &str) -> f64 {
    text.chars().map(char_width_em).sum()
}

fn char_width_em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.33,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '×' => 0.92,
        'A'..='Z' => 0.70,
        '\u{0}'..='\u{2ff}' => 0.62,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => 0.0,
        '\u{370}'..='\u{10ff}' => 0.66,
        '\u{2000}'..='\u{2bff}' => 0.66,
        // Hangul, kana, ideographs and their full-width punctuation are one em wide.
        _ => 1.0,
    }
}

/// The text, truncated with an ellipsis if it is wider than `width` at this font size.
pub(crate) fn shortened(text: &str, width: f64, size: f64) -> String {
    if width_em(text) * size <= width {
        return text.to_owned();
    }
    let room = width / size - 0.92;
    let mut used = 0.0;
    let shortened: String = text
        .chars()
        .take_while(|c| {
            used += char_width_em(*c);
            used <= room
        })
        .collect();
    format!("{}…", shortened.trim_end())
}

/// The text in lines no wider than `width` at this font size; a word that is wider than a line is
/// broken at hyphens, or truncated.
pub(crate) fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (is_spaced, word) in breaks::parts(text) {
        let blank = if is_spaced { " " } else { "" };
        match lines.last_mut() {
            Some(line) if width_em(&format!("{line}{blank}{word}")) * size <= width => {
                line.push_str(blank);
                line.push_str(word);
            }
            _ if width_em(word) * size > width => lines.extend(parted(word, width, size)),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A word that is wider than a line, broken after its hyphens and underscores; parts that are still
/// too wide are truncated.
fn parted(word: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in word.split_inclusive(['-', '_']) {
        match lines.last_mut() {
            Some(line) if width_em(&format!("{line}{part}")) * size <= width => line.push_str(part),
            _ => lines.push(shortened(part, width, size)),
        }
    }
    lines
}

/// The quantity on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// A number without unit (the axis title names it).
    Number,
    /// Milliseconds.
    Time,
    /// Per cent, 0 to 100.
    Percent,
    /// A ratio, 1 for equal.
    Ratio,
}

impl Quantity {
    pub(crate) fn of(metric: ComparisonMetric) -> Self {
        if metric.is_more_better() { Self::Number } else { Self::Time }
    }
}

/// Formats a quantity as an axis label. `step` is the distance between labels, which determines the
/// number of decimals.
pub(crate) fn axis_label(quantity: Quantity, value: f64, step: f64) -> String {
    match quantity {
        Quantity::Number => number_label(value, step),
        Quantity::Time => time_label(value),
        Quantity::Percent => format!("{} %", number_label(value, step)),
        Quantity::Ratio if value.abs() >= 1e6 => format!("{value:.0e}×"),
        Quantity::Ratio if value.abs() < 1.0 => {
            let text =
                if value.abs() < 0.0995 { format!("{value:.4}") } else { format!("{value:.2}") };
            format!("{}×", text.trim_end_matches('0').trim_end_matches('.'))
        }
        Quantity::Ratio => {
            let text = with_separators(value, 2);
            format!("{}×", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// `0`, `1,500`, `0.25`, `120 k`, `2.5 M`: as many decimals as the step needs, with grouped
/// thousands.
fn number_label(value: f64, step: f64) -> String {
    let size = value.abs();
    let (divisor, unit) = match size {
        s if s >= 1e15 || (s > 0.0 && s < 1e-4) => return format!("{value:.0e}"),
        s if s >= 1e9 => (1e9, " G"),
        s if s >= 1e6 => (1e6, " M"),
        s if s >= 1e5 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let decimals = decimals_for(step / divisor);
    format!("{}{unit}", with_separators(value / divisor, decimals))
}

/// Number of decimals that distinguish multiples of `step`.
fn decimals_for(step: f64) -> usize {
    if !(step.is_finite() && step > 0.0) {
        return 0;
    }
    (0..6)
        .find(|decimals| {
            let scaled = step * 10f64.powi(*decimals);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0) && scaled.round() >= 1.0
        })
        .map_or(6, |decimals| decimals as usize)
}

/// A number with `,` between thousands and `.` before decimals, in every language.
pub(crate) fn with_separators(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, ""), |(whole, fraction)| (whole, fraction));
    // Only extreme numbers exceed a u64; they are not grouped.
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), figures::count);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

/// A time with its unit and without trailing zeros: `0`, `500 µs`, `2.5 ms`, `10 s`.
fn time_label(millis: f64) -> String {
    let nanos = millis * 1e6;
    if nanos < 0.5 {
        return "0".to_owned();
    }
    let (value, unit) = match nanos {
        n if n >= 1e16 => return format!("{:.0e} s", n / 1e9),
        n if n < 999.5 => (n, "ns"),
        n if n < 999_500.0 => (n / 1e3, "µs"),
        n if n < 999_500_000.0 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let text = format!("{value:.2}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A quantity with three significant digits, for tooltips.
pub(crate) fn spelled(quantity: Quantity, value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    match quantity {
        Quantity::Number => with_separators(value, decimals),
        Quantity::Time => Nanos((value.max(0.0) * 1e6).round() as u64).to_string(),
        Quantity::Percent => format!("{} %", with_separators(value, decimals)),
        Quantity::Ratio => format!("{value:.2}×"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hangul_and_kana_take_a_full_em_and_latin_about_half() {
        assert!((width_em("처리량") - 3.0).abs() < 1e-9);
        assert!((width_em("スレッド") - 4.0).abs() < 1e-9);
        let latin = width_em("PostgreSQL 15 on a small machine");
        assert!((14.0..21.0).contains(&latin), "{latin}");
    }

    #[test]
    fn text_that_fits_is_left_alone_and_other_text_ends_in_an_ellipsis() {
        assert_eq!(shortened("MariaDB", 100.0, 12.0), "MariaDB");
        let cut = shortened("a name that goes on and on and on", 100.0, 12.0);
        assert!(cut.ends_with('…') && width_em(&cut) * 12.0 <= 105.0, "{cut}");
        assert_eq!(shortened("처리량처리량처리량", 40.0, 12.0), "처리…");
    }

    #[test]
    fn lines_break_at_blanks_and_fit() {
        let lines = wrapped("one two three four five six seven eight", 120.0, 14.0);
        assert!(
            lines.len() > 2 && lines.iter().all(|line| width_em(line) * 14.0 <= 120.0),
            "{lines:?}"
        );
        assert_eq!(lines.join(" "), "one two three four five six seven eight");
        assert!(wrapped("  ", 120.0, 14.0).is_empty());
        assert_eq!(
            wrapped("10.11.19-MariaDB-0+deb12u1", 110.0, 11.0),
            ["10.11.19-MariaDB-", "0+deb12u1"]
        );
    }

    #[test]
    fn axis_labels_have_the_decimals_that_their_step_needs() {
        let rows = [
            (Quantity::Number, 1500.0, 500.0, "1,500"),
            (Quantity::Number, 0.5, 0.25, "0.50"),
            (Quantity::Number, 120_000.0, 20_000.0, "120 k"),
            (Quantity::Number, 2_500_000.0, 500_000.0, "2.5 M"),
            (Quantity::Time, 0.0, 1.0, "0"),
            (Quantity::Time, 2.5, 0.5, "2.5 ms"),
            (Quantity::Time, 0.05, 1.0, "50 µs"),
            (Quantity::Time, 60_000.0, 1.0, "60 s"),
            (Quantity::Percent, 30.0, 10.0, "30 %"),
            (Quantity::Ratio, 1.0, 0.1, "1×"),
            (Quantity::Ratio, 0.5, 0.1, "0.5×"),
            (Quantity::Ratio, 2.0 / 3.0, 0.1, "0.67×"),
        ];
        for (quantity, value, step, text) in rows {
            assert_eq!(axis_label(quantity, value, step), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(with_separators(1_234_567.891, 2), "1,234,567.89");
        assert_eq!(with_separators(-1000.0, 0), "-1,000");
        assert_eq!(with_separators(999.0, 0), "999");
    }
}
