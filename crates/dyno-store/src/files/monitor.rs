//! `monitor.csv` and `sessions.csv`: the monitor's samples of a trial.
//!
//! `monitor.csv` has a line per sample: `at_s`, then a column per value of the trial's first
//! sample; names are explained in [`dyno_model::monitor`]. Totals (`..._total`) are written as
//! their increase since the first sample. Missing values are empty. `sessions.csv` has a line per
//! group of sessions: `at_s,sessions,state,wait,statement`.

use crate::problem::{Damage, Problems};
use crate::timeline::shortened;
use dyno_model::monitor::{MonitorSample, SessionGroup, is_total};
use std::collections::BTreeMap;

/// First line of `sessions.csv`.
pub(crate) const SESSIONS_HEADER: &str = "at_s,sessions,state,wait,statement\n";

/// Encodes the lines of one trial.
#[derive(Debug, Clone)]
pub(crate) struct MonitorEncoder {
    /// Columns, with the initial values of totals.
    columns: Vec<(String, f64)>,
}

impl MonitorEncoder {
    /// Takes the columns from the trial's first sample.
    pub(crate) fn new(first: &MonitorSample) -> Self {
        let column = |(name, value): (&String, &f64)| {
            (name.clone(), if is_total(name) { *value } else { 0.0 })
        };
        Self { columns: first.values.iter().map(column).collect() }
    }

    /// First line of `monitor.csv`.
    pub(crate) fn header(&self) -> String {
        lines([["at_s"].into_iter().chain(self.columns.iter().map(|(name, _)| name.as_str()))])
    }

    /// The line of a sample; empty for a sample of sessions only.
    pub(crate) fn line(&self, sample: &MonitorSample) -> String {
        if sample.values.is_empty() {
            return String::new();
        }
        let values = self.columns.iter().map(|(name, base)| {
            sample.values.get(name).map(|value| format_value(value - base)).unwrap_or_default()
        });
        lines([[seconds(sample.at_s)].into_iter().chain(values)])
    }
}

/// Six decimals at most, without trailing zeros.
fn format_value(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

fn seconds(value: f64) -> String {
    format!("{value:.3}")
}

pub(crate) fn session_lines(sample: &MonitorSample) -> String {
    lines(sample.sessions.iter().map(|group| {
        // Line ends are removed, so that a record stays one line.
        let words = [&group.state, &group.wait, &group.statement]
            .map(|word| word.replace(['\n', '\r'], " "));
        [seconds(sample.at_s), group.sessions.to_string()].into_iter().chain(words)
    }))
}

fn lines<C: AsRef<[u8]>>(records: impl IntoIterator<Item = impl IntoIterator<Item = C>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record).expect("memory takes lines that are equally long");
    }
    let bytes = writer.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("cells are text")
}

/// Reads `monitor.csv`.
pub(crate) fn parse(text: &str) -> (Vec<MonitorSample>, Problems) {
    let (mut samples, mut problems): (Vec<MonitorSample>, _) = (Vec::new(), Vec::new());
    let mut columns: Vec<String> = Vec::new();
    for (number, cells) in records(text, &mut problems) {
        if number == 1 {
            if cells.first().map(String::as_str) != Some("at_s") {
                problems.push((1, "the first column is not `at_s`".into()));
                break;
            }
            columns = cells[1..].to_vec();
        } else {
            match parse_line(&columns, &cells) {
                Some(sample) => samples.push(sample),
                None => problems.push((
                    number,
                    format!("not a sample: `{}`", shortened(&cells.join(","))).into(),
                )),
            }
        }
    }
    (samples, problems)
}

fn parse_line(columns: &[String], cells: &[String]) -> Option<MonitorSample> {
    let (at, cells) = cells.split_first()?;
    if cells.len() != columns.len() {
        return None;
    }
    let mut values = BTreeMap::new();
    for (name, cell) in columns.iter().zip(cells) {
        if !cell.is_empty() {
            values.insert(name.clone(), finite(cell)?);
        }
    }
    Some(MonitorSample { at_s: finite(at)?, values, ..MonitorSample::default() })
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Reads `sessions.csv`: samples with their groups.
pub(crate) fn parse_sessions(text: &str) -> (Vec<MonitorSample>, Problems) {
    let (mut samples, mut problems): (Vec<MonitorSample>, _) = (Vec::new(), Vec::new());
    for (number, cells) in records(text, &mut problems).into_iter().skip(1) {
        let [at, sessions, state, wait, statement] = cells.as_slice() else {
            problems.push((number, "not a group of sessions".into()));
            continue;
        };
        let (Some(at_s), Ok(sessions)) = (finite(at), sessions.parse()) else {
            problems.push((
                number,
                format!("not a group of sessions: `{}`", shortened(&cells.join(","))).into(),
            ));
            continue;
        };
        let group = SessionGroup {
            sessions,
            state: state.clone(),
            wait: wait.clone(),
            statement: statement.clone(),
        };
        match samples.last_mut() {
            Some(sample) if sample.at_s == at_s => {
                sample.sessions.push(group);
            }
            _ => samples.push(MonitorSample {
                at_s,
                sessions: vec![group],
                ..MonitorSample::default()
            }),
        }
    }
    (samples, problems)
}

/// Numbered lines as cells. A killed run leaves a truncated last line.
fn records(text: &str, problems: &mut Problems) -> Vec<(usize, Vec<String>)> {
    let mut records = Vec::new();
    for (i, line) in text.split_inclusive('\n').enumerate() {
        match line.strip_suffix('\n') {
            Some(line) => records.push((i + 1, cells(line))),
            None => problems.push((i + 1, Damage::LastLineCut)),
        }
    }
    records
}

/// The cells of a line. Lines are parsed separately, so that a broken one does not affect the next.
fn cells(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    record.iter().flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: f64, values: &[(&str, f64)]) -> MonitorSample {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        MonitorSample { at_s, values, ..MonitorSample::default() }
    }

    #[test]
    fn totals_are_written_as_increases_and_other_values_unchanged() {
        let first = sample(-0.25, &[("a.reads_total", 1000.0), ("a.threads", 7.0)]);
        let second = sample(1.0, &[("a.reads_total", 1012.5), ("a.new_total", 3.0)]);
        let encoder = MonitorEncoder::new(&first);
        let text = format!("{}{}{}", encoder.header(), encoder.line(&first), encoder.line(&second));
        assert_eq!(text, "at_s,a.reads_total,a.threads\n-0.250,0,7\n1.000,12.5,\n");
        let (samples, problems) = parse(&text);
        assert_eq!(problems, []);
        assert_eq!(samples[1], sample(1.0, &[("a.reads_total", 12.5)]));
        assert_eq!(samples[0].values["a.threads"], 7.0);
    }

    #[test]
    fn statements_with_commas_and_quotes_are_read_back() {
        let group = SessionGroup {
            sessions: 3,
            state: "active".into(),
            wait: "Lock:tuple".into(),
            statement: "SELECT \"a\", b\nFROM t".into(),
        };
        let sample = MonitorSample {
            at_s: 2.5,
            sessions: vec![group.clone(), group],
            ..MonitorSample::default()
        };
        let (samples, problems) =
            parse_sessions(&format!("{SESSIONS_HEADER}{}", session_lines(&sample)));
        assert_eq!(problems, []);
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].sessions[1].statement, "SELECT \"a\", b FROM t");
    }

    #[test]
    fn broken_lines_are_reported_and_the_others_are_kept() {
        let (samples, problems) = parse("at_s,x\n0.000,1\n1.000\n2.000,inf\n3.000,2\n4.0");
        assert_eq!(samples.len(), 2);
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [6, 3, 4]);
        assert_eq!(
            parse_sessions("at_s,sessions,state,wait,statement\nx,1,a,b,c\n1,2\n").1.len(),
            2
        );
        assert_eq!(parse("what,x\n1,2\n").1.len(), 1);
    }
}
