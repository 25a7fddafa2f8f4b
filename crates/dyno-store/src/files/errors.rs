//! `errors.csv`: the errors of a trial's clients over time, one line per interval and kind. The
//! file exists only when errors occurred.

use crate::problem::Problems;
use crate::timeline::{finite, is_warmup, parse_rows, phase};
use dyno_model::failure::FailureKind;
use dyno_model::record::IntervalRecord;
use std::fmt::Write as _;

/// First line of the file.
pub(crate) const HEADER: &str = "start_s,length_s,phase,kind,errors\n";

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorLine {
    /// Start of the interval, seconds since the common start.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Kind of the errors.
    pub kind: FailureKind,
    /// Number of errors ([`IntervalRecord::errors_by_kind`]).
    pub errors: u64,
}

/// The lines of an interval; empty without errors.
pub(crate) fn lines(interval: &IntervalRecord) -> String {
    let phase = phase(interval.is_warmup);
    let (start, length) = (interval.start.as_secs_f64(), interval.length.as_secs_f64());
    let mut lines = String::new();
    for (kind, errors) in &interval.errors_by_kind {
        let _ = writeln!(lines, "{start:.3},{length:.3},{phase},{kind},{errors}");
    }
    lines
}

/// Reads the file. The second value lists unreadable lines.
pub(crate) fn parse(text: &str) -> (Vec<ErrorLine>, Problems) {
    parse_rows(text, HEADER, "errors of an interval", parse_line)
}

fn parse_line(line: &str) -> Option<ErrorLine> {
    let columns: Vec<&str> = line.split(',').collect();
    let [start, length, phase, kind, errors] = columns[..] else { return None };
    Some(ErrorLine {
        start_s: finite(start)?,
        length_s: finite(length)?,
        is_warmup: is_warmup(phase)?,
        kind: FailureKind::named(kind)?,
        errors: errors.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::units::Nanos;

    #[test]
    fn lines_are_read_as_written_and_broken_ones_are_reported() {
        let mut interval =
            IntervalRecord::empty("b01-001", Nanos::from_secs(2), Nanos::from_secs(1), &[]);
        assert_eq!(lines(&interval), "");
        interval.errors_by_kind =
            [(FailureKind::Timeout, 8), (FailureKind::ConnectRefused, 3)].into();
        let text =
            format!("{HEADER}{}nonsense\n2.0,1.0,measure,no-such-kind,1\n2.0,1", lines(&interval));
        let (read, problems) = parse(&text);
        let found: Vec<_> =
            read.iter().map(|line| (line.start_s, line.kind, line.errors)).collect();
        assert_eq!(found, [(2.0, FailureKind::ConnectRefused, 3), (2.0, FailureKind::Timeout, 8)]);
        assert!(read.iter().all(|line| !line.is_warmup && line.length_s == 1.0));
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!(parse("other\n").1[0].0, 1);
        assert_eq!(parse(""), (Vec::new(), Vec::new()), "a trial without errors has no file");
    }
}
