//! Tables (`.csv`) with a heading: one run per line, with cells separated by commas, semicolons or
//! tabs.

use super::labels::parse_figure;
use super::reading::{Reading, nanos, set_percentile};
use csv::StringRecord;
use dyno_model::counters::UnknownCount;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;

/// Default names of columns, and their meaning.
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

/// Largest plausible number of clients, seconds and milliseconds in a cell.
const LARGEST: f64 = 1e12;

/// True when the first line contains known column names, or those given by the user.
pub(super) fn is_format(text: &str, names: &BTreeMap<String, String>) -> bool {
    let heading = text.lines().next().unwrap_or_default();
    let cells: Vec<&str> = heading
        .split(char::from(delimiter(text)))
        .map(|cell| cell.trim().trim_matches('"'))
        .collect();
    let is_there = |column: &str| cells.contains(&names.get(column).map_or(column, String::as_str));
    cells.len() > 1 && COLUMNS.iter().any(|(column, _)| is_there(column))
}

fn delimiter(text: &str) -> u8 {
    let heading = text.lines().next().unwrap_or_default();
    [b',', b';', b'\t']
        .into_iter()
        .max_by_key(|one| (heading.matches(char::from(*one)).count(), *one == b','))
        .unwrap_or(b',')
}

/// The columns of a table.
struct Heading<'n> {
    cells: StringRecord,
    names: &'n BTreeMap<String, String>,
}

impl Heading<'_> {
    /// # Errors
    /// When a column named by the user is missing, or a column occurs twice.
    fn check(&self) -> Result<(), String> {
        for (column, name) in self.names {
            if self.column_index(column).is_none() {
                let there = self.cells.iter().collect::<Vec<_>>().join(", ");
                return Err(format!("no column is called `{name}`; columns: {there}"));
            }
        }
        for (column, _) in COLUMNS {
            let name = self.name(column);
            if self.cells.iter().filter(|cell| *cell == name).count() > 1 {
                return Err(format!("two columns are called `{name}`"));
            }
        }
        if self.column_index("committed").is_none() && self.column_index("throughput").is_none() {
            return Err("it has neither a column `committed` nor `throughput`; set its name with \
                        --column throughput=NAME"
                .to_owned());
        }
        Ok(())
    }

    fn name<'a>(&'a self, column: &'a str) -> &'a str {
        self.names.get(column).map_or(column, String::as_str)
    }

    fn column_index(&self, column: &str) -> Option<usize> {
        self.cells.iter().position(|cell| cell == self.name(column))
    }
}

/// A line of a table.
struct Row<'a> {
    heading: &'a Heading<'a>,
    cells: StringRecord,
    line: u64,
}

impl Row<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        self.cells.get(self.heading.column_index(column)?).filter(|text| !text.is_empty())
    }

    fn number(&self, column: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let number = parse_figure(text).filter(|number| *number <= LARGEST);
        number.map(Some).ok_or_else(|| {
            self.wrong(column, "not a valid number (finite, not negative, with a decimal point)")
        })
    }

    fn count(&self, column: &str) -> Result<Option<u64>, String> {
        match self.number(column)? {
            Some(number) if number.fract() != 0.0 => Err(self.wrong(column, "not an integer")),
            number => Ok(number.map(|number| number as u64)),
        }
    }

    fn wrong(&self, column: &str, what: &str) -> String {
        format!(
            "line {}: `{}` in `{column}` is {what}",
            self.line,
            self.text(column).unwrap_or_default()
        )
    }

    fn reading(&self) -> Result<Reading, String> {
        let seconds = self.number("seconds")?.unwrap_or_default();
        let rate = self.number("throughput")?;
        let committed =
            self.count("committed")?.or(rate.map(|rate| (rate * seconds).round() as u64));
        let Some(committed) = committed else {
            return Err(format!(
                "line {}: neither `committed` nor `throughput` has a value",
                self.line
            ));
        };
        let clients = self
            .count("clients")?
            .map(|clients| u32::try_from(clients).map_err(|_| self.wrong("clients", "too large")));
        let mut reading = Reading {
            system: self.text("system").map(str::to_owned),
            clients: clients.transpose()?,
            program: "a table".to_owned(),
            window_length: Nanos((seconds * 1e9).round() as u64),
            rate,
            line: usize::try_from(self.line).unwrap_or_default(),
            ..Reading::default()
        };
        let failed = self.count("failed")?;
        reading.counters.committed = committed;
        reading.counters.failed = failed.unwrap_or_default();
        reading.counters.unknown.insert(UnknownCount::Retries);
        if failed.is_none() {
            reading.counters.unknown.insert(UnknownCount::Failed);
        }
        reading.latency.count = committed;
        reading.latency.mean = nanos(self.number("mean_ms")?) as f64;
        reading.latency.max = nanos(self.number("max_ms")?);
        let mut below = 0.0;
        for (column, percentage) in
            [("p50_ms", 50.0), ("p95_ms", 95.0), ("p99_ms", 99.0), ("max_ms", 100.0)]
        {
            let Some(time) = self.number(column)? else { continue };
            if time < below {
                return Err(self.wrong(column, "less than a smaller percentile of the same line"));
            }
            below = time;
            set_percentile(&mut reading.latency, percentage, nanos(Some(time)));
        }
        Ok(reading)
    }
}

/// All lines of a table. `names` maps the names in [`COLUMNS`] to those in the file.
pub(super) fn read(text: &str, names: &BTreeMap<String, String>) -> Result<Vec<Reading>, String> {
    let mut builder = csv::ReaderBuilder::new();
    let mut reader =
        builder.trim(csv::Trim::All).delimiter(delimiter(text)).from_reader(text.as_bytes());
    let heading =
        Heading { cells: reader.headers().map_err(|error| error.to_string())?.clone(), names };
    heading.check()?;
    let mut readings = Vec::new();
    for cells in reader.records() {
        let cells = cells.map_err(|error| error.to_string())?;
        let line = cells.position().map_or(0, csv::Position::line);
        readings.push(Row { heading: &heading, cells, line }.reading()?);
    }
    if readings.is_empty() {
        Err("the table has no line below its heading".to_owned())
    } else {
        Ok(readings)
    }
}
