//! Tables (`.csv`) with a heading: one run per line.

use super::reading::{Reading, nanos, set_percentile};
use dyno_model::units::Nanos;
use std::collections::BTreeMap;

/// What a column may be called, and what it is.
pub(crate) const COLUMNS: [(&str, &str); 11] = [
    ("system", "name of the system"),
    ("clients", "number of clients"),
    ("seconds", "length of the run"),
    ("committed", "transactions"),
    ("throughput", "transactions per second"),
    ("failed", "transactions that failed"),
    ("mean_ms", "mean response time"),
    ("p50_ms", "median response time"),
    ("p95_ms", "95th percentile"),
    ("p99_ms", "99th percentile"),
    ("max_ms", "longest response time"),
];

/// All lines of a table. `names` says what columns of [`COLUMNS`] are called there.
pub(super) fn read(text: &str, names: &BTreeMap<String, String>) -> Result<Vec<Reading>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let heading = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |column: &str| {
        let name = names.get(column).map_or(column, String::as_str);
        heading.iter().position(|it| it == name)
    };
    for (column, name) in names {
        if place(column).is_none() {
            let there = heading.iter().collect::<Vec<_>>().join(", ");
            return Err(format!("no column is called `{name}`; there are {there}"));
        }
    }
    if place("committed").is_none() && place("throughput").is_none() {
        return Err(
            "it has neither a column `committed` nor `throughput`; --column throughput=NAME says which it is"
                .to_owned(),
        );
    }
    let mut readings = Vec::new();
    for (index, line) in reader.records().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let text =
            |column: &str| place(column).and_then(|place| line.get(place)).filter(|text| !text.is_empty());
        let number = |column: &str| match text(column).map(|text| (text, text.parse::<f64>())) {
            None => Ok(None),
            Some((_, Ok(number))) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            Some((text, _)) => Err(format!("line {}: `{text}` in `{column}` is not a number", index + 2)),
        };
        let seconds = number("seconds")?.unwrap_or_default();
        let rate = number("throughput")?;
        let committed =
            number("committed")?.or(rate.map(|rate| rate * seconds)).unwrap_or_default().round() as u64;
        let failed = number("failed")?.unwrap_or_default() as u64;
        let mut reading = Reading {
            system: text("system").map(str::to_owned),
            clients: number("clients")?.map(|clients| clients as u32),
            program: "a table".to_owned(),
            measured: Nanos((seconds * 1e9).round() as u64),
            rate,
            ..Reading::default()
        };
        (reading.ledger.committed, reading.ledger.failed) = (committed, failed);
        reading.latency.count = committed;
        reading.latency.mean = nanos(number("mean_ms")?) as f64;
        reading.latency.max = nanos(number("max_ms")?);
        for (column, percentage) in [("p50_ms", 50.0), ("p95_ms", 95.0), ("p99_ms", 99.0)] {
            set_percentile(&mut reading.latency, percentage, nanos(number(column)?));
        }
        readings.push(reading);
    }
    if readings.is_empty() { Err("the table has no line below its heading".to_owned()) } else { Ok(readings) }
}
