//! Labelled values, such as `total time:`. A repeated label and an invalid number are errors.

use super::document::Line;
use std::collections::BTreeMap;

/// A number printed by a program: decimal digits with at most one point, neither negative nor
/// infinite nor NaN.
pub(super) fn parse_figure(text: &str) -> Option<f64> {
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text.len() <= 24;
    is_plain.then(|| text.parse().ok()).flatten()
}

/// The end of an interval in seconds, and its rate.
///
/// # Errors
/// When one of the two is not a usable number.
pub(super) fn measured_interval(
    line: usize,
    second: &str,
    rate: &str,
) -> Result<(f64, f64), String> {
    let number = |word: &str| {
        parse_figure(word).ok_or_else(|| {
            format!("line {line}: `{word}` in a progress line is not a valid number")
        })
    };
    Ok((number(second)?, number(rate)?))
}

/// The labelled values of one result.
#[derive(Debug, Default)]
pub(super) struct Labels<'t> {
    values: BTreeMap<&'static str, Line<'t>>,
}

impl<'t> Labels<'t> {
    /// Stores the value of a label.
    ///
    /// # Errors
    /// When the label occurs twice: two results are mixed.
    pub(super) fn take(&mut self, label: &'static str, value: Line<'t>) -> Result<(), String> {
        match self.values.insert(label, value) {
            None => Ok(()),
            Some(first) => Err(format!(
                "line {}: `{label}` occurs again, after line {}: two results without a heading \
                 between them; keep the complete output of the program, or use a separate file for \
                 each run",
                value.number, first.number
            )),
        }
    }

    pub(super) fn has(&self, label: &str) -> bool {
        self.values.contains_key(label)
    }

    /// The whole value of a label.
    pub(super) fn text(&self, label: &str) -> Option<&'t str> {
        self.values.get(label).map(|line| line.text)
    }

    /// The first number after a label, which may have a unit; `None` when the label is missing.
    ///
    /// # Errors
    /// When it is not a usable number.
    pub(super) fn number(&self, label: &'static str) -> Result<Option<f64>, String> {
        let Some(line) = self.values.get(label) else { return Ok(None) };
        let word = line
            .text
            .trim_start()
            .split(|c: char| c.is_whitespace() || "(/,".contains(c))
            .next()
            .unwrap_or_default();
        let digits = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = if digits.is_empty() {
            word
        } else {
            word.trim_end_matches("ms").trim_end_matches(['s', '%'])
        };
        parse_figure(number).map(Some).ok_or_else(|| self.wrong(label, word))
    }

    /// The same as an integer count.
    ///
    /// # Errors
    /// As [`Self::number`], and when it is not an integer.
    pub(super) fn count(&self, label: &'static str) -> Result<Option<u64>, String> {
        let number = self.number(label)?;
        let whole = |number: f64| (number.fract() == 0.0 && number < 1e18).then_some(number as u64);
        match number
            .map(|number| whole(number).ok_or_else(|| self.wrong(label, &number.to_string())))
        {
            Some(count) => count.map(Some),
            None => Ok(None),
        }
    }

    /// The error message for a value that is not a number.
    pub(super) fn wrong(&self, label: &str, value: &str) -> String {
        let line = self.values.get(label).map_or(0, |line| line.number);
        format!("line {line}: `{value}` after `{label}` is not a valid number")
    }
}

/// The program that printed a heading of `name` if it is dyno's: `dyno pgbench 0.1.0` for
/// `15, dyno 0.1.0)`.
pub(super) fn replacement(heading: &str, name: &str) -> Option<String> {
    let (_, version) = heading.split_once("dyno ")?;
    let version = version.split([',', ')']).next().unwrap_or_default();
    Some(format!("dyno {name} {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_nonnegative_decimals_are_measured_numbers() {
        for (text, number) in [("0", Some(0.0)), ("12.50", Some(12.5)), ("7", Some(7.0))] {
            assert_eq!(parse_figure(text), number);
        }
        for text in [
            "", ".", "nan", "-nan", "inf", "infinity", "-1", "+1", "1e400", "1e5", "1.2.3", "1,5",
            "0x10",
        ] {
            assert_eq!(parse_figure(text), None, "{text}");
        }
        assert_eq!(parse_figure(&"9".repeat(400)), None);
    }

    #[test]
    fn numbers_have_units_and_a_label_is_there_once() {
        let mut labels = Labels::default();
        for (label, text) in [
            ("a", " 10.49ms"),
            ("b", "3.0040s"),
            ("c", "1210/1600"),
            ("d", "0 (NaN%)"),
            ("e", "nan ms"),
            ("f", "1.5"),
        ] {
            labels.take(label, Line { number: 7, text }).unwrap();
        }
        assert_eq!(
            [labels.number("a"), labels.number("b"), labels.number("x")],
            [Ok(Some(10.49)), Ok(Some(3.004)), Ok(None)]
        );
        assert_eq!([labels.count("c"), labels.count("d")], [Ok(Some(1210)), Ok(Some(0))]);
        assert_eq!(
            labels.number("e"),
            Err("line 7: `nan` after `e` is not a valid number".to_owned())
        );
        assert!(labels.count("f").is_err());
        assert!(
            labels
                .take("a", Line { number: 9, text: "1" })
                .unwrap_err()
                .starts_with("line 9: `a` occurs again, after line 7")
        );
    }
}
