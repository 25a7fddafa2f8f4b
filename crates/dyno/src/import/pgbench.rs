//! What pgbench prints at the end of a run, with or without its lines of progress.

use super::reading::{Reading, count, nanos, number, parts, rates};
use dyno_model::units::Nanos;

/// What each run's figures begin with.
const BEGINNING: &str = "transaction type:";

pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(BEGINNING))
}

/// All runs that a file holds, one after another. Lines of progress come before the figures of their run.
pub(super) fn read(text: &str) -> Result<Vec<Reading>, String> {
    // `pgbench (15.18, server 15.4)`; a client of the server's own version names only one.
    let heading = text.lines().find_map(|line| line.strip_prefix("pgbench (")).unwrap_or_default();
    let version = |text: &str| text.split([' ', ')', ',']).next().unwrap_or_default().to_owned();
    let server = heading.split_once("server ").map_or_else(|| version(heading), |(_, text)| version(text));
    let program = format!("pgbench {}", version(heading)).trim_end().to_owned();
    let mut progress = Vec::new();
    let mut readings = Vec::new();
    for part in parts(text, BEGINNING) {
        let (before, figures) = part.split_at(part.find(BEGINNING).unwrap_or_default());
        progress.extend(before.lines());
        let mut reading = run(figures, &program)?;
        reading.server_version.clone_from(&server);
        reading.course = rates(progress.iter().copied().filter_map(interval));
        readings.push(reading);
        progress = figures.lines().collect();
    }
    Ok(readings)
}

fn run(text: &str, program: &str) -> Result<Reading, String> {
    let lacks = |what: &str| format!("a run of pgbench without `{what}`; was it cut off?");
    let processed = "number of transactions actually processed:";
    let committed = count(text, processed).ok_or_else(|| lacks(processed))?;
    let rate = number(text, "tps =").ok_or_else(|| lacks("tps ="))?;
    let mut reading = Reading {
        clients: count(text, "number of clients:").and_then(|clients| u32::try_from(clients).ok()),
        program: program.to_owned(),
        // Its rate is over this time, without the one for connecting.
        measured: Nanos(if rate > 0.0 { (committed as f64 / rate * 1e9).round() as u64 } else { 0 }),
        ..Reading::default()
    };
    let ledger = &mut reading.ledger;
    ledger.committed = committed;
    ledger.failed = count(text, "number of failed transactions:").unwrap_or_default();
    ledger.skipped = count(text, "number of transactions skipped:").unwrap_or_default();
    ledger.retries = count(text, "total number of retries:").unwrap_or_default();
    reading.latency.count = committed;
    reading.latency.mean = nanos(number(text, "latency average =")) as f64;
    reading.latency.standard_deviation = nanos(number(text, "latency stddev =")) as f64;
    Ok(reading)
}

/// Lines such as `progress: 5.0 s, 1234.5 tps, lat 0.8 ms stddev 0.1, 0 failed`: second and rate.
fn interval(line: &str) -> Option<(f64, f64)> {
    let (second, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
    let (rate, _) = rest.split_once(" tps")?;
    Some((second.parse().ok()?, rate.parse().ok()?))
}
