//! `timeline.csv`: a trial over time, one line per interval.

use crate::problem::{Damage, Problems};
use dyno_model::latency;
use dyno_model::printable;
use dyno_model::record::IntervalRecord;
use dyno_model::units::{Nanos, millis};
use hdrhistogram::Histogram;
use std::fmt::Write as _;

/// First line of the file.
pub(crate) const HEADER: &str =
    "start_s,length_s,phase,committed,failed,retries,mean_ms,p50_ms,p95_ms,p99_ms,max_ms\n";

const WARM_UP: &str = "warm-up";
const MEASURE: &str = "measure";

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineLine {
    /// Start, seconds since the common start.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions given up.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Mean, median, 95th and 99th percentile and maximum response time in ms; absent when nothing
    /// was committed or when they are unknown.
    pub latency_ms: Option<[f64; 5]>,
}

impl From<&IntervalRecord> for TimelineLine {
    fn from(interval: &IntervalRecord) -> Self {
        Self {
            start_s: interval.start.as_secs_f64(),
            length_s: interval.length.as_secs_f64(),
            is_warmup: interval.is_warmup,
            committed: interval.response_times.len(),
            failed: interval.failed,
            retries: interval.retries,
            latency_ms: latency_ms(&interval.response_times),
        }
    }
}

/// The line with its line end. Columns of response times are empty when absent.
pub(crate) fn line(of: &TimelineLine) -> String {
    let phase = phase(of.is_warmup);
    let TimelineLine { start_s, length_s, committed, failed, retries, .. } = of;
    let mut line = format!("{start_s:.3},{length_s:.3},{phase},{committed},{failed},{retries}");
    match of.latency_ms {
        Some(values) => {
            for value in values {
                let _ = write!(line, ",{value:.4}");
            }
        }
        None => line.push_str(",,,,,"),
    }
    line.push('\n');
    line
}

fn latency_ms(histogram: &Histogram<u64>) -> Option<[f64; 5]> {
    if histogram.is_empty() {
        return None;
    }
    let at = |percentage| Nanos(latency::percentile(histogram, percentage)).as_millis_f64();
    Some([
        millis(histogram.mean()),
        at(50.0),
        at(95.0),
        at(99.0),
        Nanos(histogram.max()).as_millis_f64(),
    ])
}

/// Reads the file. The second value lists unreadable lines.
pub(crate) fn parse(text: &str) -> (Vec<TimelineLine>, Problems) {
    parse_rows(text, HEADER, "an interval", parse_line)
}

/// Reads a file with a row per interval under this header; `what` describes a row.
pub(crate) fn parse_rows<T>(
    text: &str,
    header: &str,
    what: &str,
    parse_row: fn(&str) -> Option<T>,
) -> (Vec<T>, Problems) {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let line_number = i + 1;
        let Some(content) = line.strip_suffix('\n') else {
            problems.push((line_number, Damage::LastLineCut));
            break;
        };
        if line_number == 1 {
            if line != header {
                problems.push((
                    line_number,
                    format!("the columns are not `{}`", header.trim_end()).into(),
                ));
                break;
            }
            continue;
        }
        match parse_row(content) {
            Some(row) => lines.push(row),
            None => {
                problems
                    .push((line_number, format!("not {what}: `{}`", shortened(content)).into()));
            }
        }
    }
    (lines, problems)
}

fn parse_line(line: &str) -> Option<TimelineLine> {
    let columns: Vec<&str> = line.split(',').collect();
    let [start, length, phase, committed, failed, retries, latency @ ..] = columns.as_slice()
    else {
        return None;
    };
    let latency: &[&str; 5] = latency.try_into().ok()?;
    let latency_ms = if latency.iter().all(|value| value.is_empty()) {
        None
    } else {
        let mut values = [0.0; 5];
        for (value, text) in values.iter_mut().zip(latency) {
            *value = finite(text)?;
        }
        Some(values)
    };
    Some(TimelineLine {
        start_s: finite(start)?,
        length_s: finite(length)?,
        is_warmup: is_warmup(phase)?,
        committed: committed.parse().ok()?,
        failed: failed.parse().ok()?,
        retries: retries.parse().ok()?,
        latency_ms,
    })
}

/// The name of a trial's phase.
pub(crate) fn phase(is_warmup: bool) -> &'static str {
    if is_warmup { WARM_UP } else { MEASURE }
}

/// The phase with this name.
pub(crate) fn is_warmup(phase: &str) -> Option<bool> {
    [(WARM_UP, true), (MEASURE, false)]
        .into_iter()
        .find_map(|(word, is)| (word == phase).then_some(is))
}

/// A finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The beginning of a text, for messages.
pub(crate) fn shortened(text: &str) -> String {
    printable::shortened(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::latency;

    fn interval(values: &[u64]) -> IntervalRecord {
        let (start, length) = (Nanos::from_secs(2), Nanos::from_secs(1));
        let mut interval = IntervalRecord::empty("b01-001", start, length, &[]);
        for value in values {
            latency::record(&mut interval.response_times, *value);
        }
        (interval.failed, interval.retries) = (1, 2);
        interval
    }

    #[test]
    fn a_line_is_read_back_as_written() {
        let text = format!("{HEADER}{}", line(&(&interval(&[1_000_000, 3_000_000])).into()));
        let (lines, problems) = parse(&text);
        assert_eq!(problems, []);
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((line.start_s, line.length_s, line.is_warmup), (2.0, 1.0, false));
        assert_eq!((line.committed, line.failed, line.retries), (2, 1, 2));
        let [mean, p50, _, _, max] = line.latency_ms.expect("two values");
        assert!(
            (mean - 2.0).abs() < 0.002 && (p50 - 1.0).abs() < 0.001 && (max - 3.0).abs() < 0.003
        );
    }

    #[test]
    fn an_interval_without_commits_has_no_response_times() {
        let text = format!("{HEADER}{}", line(&(&interval(&[])).into()));
        assert!(text.ends_with(",0,1,2,,,,,\n"), "{text}");
        assert_eq!(parse(&text).0[0].latency_ms, None);
    }

    #[test]
    fn broken_lines_are_reported_and_the_others_are_kept() {
        let text = format!("{HEADER}nonsense\n{}1.0,1", line(&(&interval(&[5])).into()));
        let (lines, problems) = parse(&text);
        assert_eq!(lines.len(), 1);
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
    }
}
