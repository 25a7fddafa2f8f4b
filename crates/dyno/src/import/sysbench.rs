//! What sysbench 1.0 and 1.1 print at the end of a run, with or without its lines of intervals.

use super::reading::{Reading, count, nanos, number, parts, rates, set_percentile};
use dyno_model::units::Nanos;

/// What each run begins with.
const BEGINNING: &str = "Running the test with following options:";

pub(super) fn is_one(text: &str) -> bool {
    text.contains(BEGINNING)
}

/// All runs that a file holds, one after another.
pub(super) fn read(text: &str) -> Result<Vec<Reading>, String> {
    let program = text.lines().find(|line| line.starts_with("sysbench ")).map(program);
    parts(text, BEGINNING).into_iter().map(|part| run(part, program.as_deref())).collect()
}

/// `sysbench 1.0.20` of `sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)`.
fn program(line: &str) -> String {
    line.split_whitespace().take(2).collect::<Vec<_>>().join(" ").trim_end_matches(':').to_owned()
}

fn run(text: &str, program: Option<&str>) -> Result<Reading, String> {
    let lacks = |what: &str| format!("a run of sysbench without `{what}`; was it cut off?");
    // Version 1.1 has figures of throughput under a heading of their own.
    let seconds = number(text, "time elapsed:").or_else(|| number(text, "total time:"));
    let seconds = seconds.ok_or_else(|| lacks("total time:"))?;
    let events = count(text, "total number of events:");
    let committed = count(text, "transactions:").or(events).ok_or_else(|| lacks("transactions:"))?;
    let mut reading = Reading {
        clients: count(text, "Number of threads:").and_then(|threads| u32::try_from(threads).ok()),
        program: program.unwrap_or("sysbench").to_owned(),
        measured: Nanos((seconds * 1e9).round() as u64),
        ..Reading::default()
    };
    reading.ledger.committed = committed;
    // What sysbench calls ignored errors are transactions that were begun again.
    reading.ledger.retries = count(text, "ignored errors:").unwrap_or_default();
    reading.ledger.reconnects = count(text, "reconnects:").unwrap_or_default();
    let latency = &mut reading.latency;
    latency.count = committed;
    latency.min = nanos(number(text, "min:"));
    latency.max = nanos(number(text, "max:"));
    latency.mean = nanos(number(text, "avg:")) as f64;
    for line in text.lines().filter(|line| line.contains("percentile:")) {
        let (name, value) = line.split_once("percentile:").unwrap_or_default();
        // `95th`; older versions write `approx.  95 percentile:`.
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let value = value.trim().trim_end_matches("ms").parse::<f64>().ok();
        if let (Ok(percentage), Some(value)) = (digits.parse(), value) {
            set_percentile(latency, percentage, nanos(Some(value)));
        }
    }
    reading.course = rates(text.lines().filter_map(interval));
    Ok(reading)
}

/// Lines such as `[ 10s ] thds: 4 tps: 1234.56 qps: ...`: second and rate.
fn interval(line: &str) -> Option<(f64, f64)> {
    let (second, rest) = line.strip_prefix('[')?.split_once("s ]")?;
    let (_, rest) = rest.split_once("tps:").or_else(|| rest.split_once("eps:"))?;
    let rate = rest.split_whitespace().next()?.trim_end_matches(',');
    Some((second.trim().parse().ok()?, rate.parse().ok()?))
}
