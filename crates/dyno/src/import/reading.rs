//! What a file says of a run, and how it is found in text.

use dyno_model::latency::LatencySummary;
use dyno_model::ledger::Ledger;
use dyno_model::record::Interval;
use dyno_model::units::Nanos;
use dyno_store::TimelineLine;

/// What one file, or a part of one, says of one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Name of the system, where the file has one.
    pub(crate) system: Option<String>,
    /// Number of clients; absent when the file does not tell.
    pub(crate) clients: Option<u32>,
    /// Program that measured it, with its version if that is known.
    pub(crate) program: String,
    /// Version of the server; empty when unknown.
    pub(crate) server_version: String,
    /// UTC time of the beginning, RFC 3339; empty when unknown.
    pub(crate) started_at: String,
    /// Length of the run.
    pub(crate) measured: Nanos,
    /// Transactions per second, where the file says them and not how many there were.
    pub(crate) rate: Option<f64>,
    pub(crate) ledger: Ledger,
    /// Its response times; 0 where unknown.
    pub(crate) latency: LatencySummary,
    pub(crate) course: Course,
}

/// How a run went from second to second.
#[derive(Debug, Clone, Default)]
pub(crate) enum Course {
    #[default]
    Unknown,
    /// Rates are known, and not all response times.
    Rates(Vec<TimelineLine>),
    /// All response times are known.
    Times(Vec<Interval>),
}

/// The first number behind a label at the beginning of a line, such as `transactions:` or `tps =`.
pub(super) fn number(text: &str, label: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(label))?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

/// The same, as a count.
pub(super) fn count(text: &str, label: &str) -> Option<u64> {
    number(text, label).map(|number| number as u64)
}

/// Nanoseconds of a time in milliseconds; 0 when it is unknown.
pub(super) fn nanos(milliseconds: Option<f64>) -> u64 {
    milliseconds.map_or(0, |time| (time * 1e6).round() as u64)
}

/// Sets a percentile of those that dyno keeps; others have no place.
pub(super) fn set_percentile(latency: &mut LatencySummary, percentage: f64, nanos: u64) {
    let tenths = (percentage * 10.0).round() as u32;
    match tenths {
        500 => latency.p50 = nanos,
        700 => latency.p70 = nanos,
        800 => latency.p80 = nanos,
        900 => latency.p90 = nanos,
        950 => latency.p95 = nanos,
        990 => latency.p99 = nanos,
        999 => latency.p999 = nanos,
        _ => {}
    }
}

/// The parts of a text that begin with a line that begins so; what stands before the first of them belongs to it.
pub(super) fn parts<'t>(text: &'t str, beginning: &str) -> Vec<&'t str> {
    let mut starts: Vec<usize> = text
        .match_indices(beginning)
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text[..*at].ends_with('\n'))
        .collect();
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// The course that a program's lines of intervals tell: the second at which each ends, and its transactions per second since the line before.
pub(super) fn rates(intervals: impl Iterator<Item = (f64, f64)>) -> Course {
    let mut lines = Vec::new();
    let mut start_s = 0.0;
    for (second, rate) in intervals {
        let length_s = second - start_s;
        if length_s > 0.0 {
            let committed = (rate * length_s).round() as u64;
            let (is_warmup, failed, retries, latency_ms) = (false, 0, 0, None);
            lines.push(TimelineLine { start_s, length_s, is_warmup, committed, failed, retries, latency_ms });
            start_s = second;
        }
    }
    if lines.is_empty() { Course::Unknown } else { Course::Rates(lines) }
}
