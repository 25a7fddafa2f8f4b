//! The rows stored by `\gset` and `\aset`.

use dyno_drivers::{Row, RowSink, Value};

/// Keeps the last row of each result with its column names.
#[derive(Debug, Default)]
pub(super) struct LastRows {
    pub(super) results: Vec<ResultRows>,
}

#[derive(Debug, Default)]
pub(super) struct ResultRows {
    names: Vec<String>,
    /// Number of rows.
    pub(super) count: u64,
    last: Vec<String>,
}

impl ResultRows {
    /// Names and values of the last row.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(String::as_str).zip(self.last.iter().map(String::as_str))
    }
}

impl LastRows {
    fn current(&mut self) -> &mut ResultRows {
        if self.results.is_empty() {
            self.results.push(ResultRows::default());
        }
        self.results.last_mut().expect("there is a result")
    }
}

impl RowSink for LastRows {
    const WANTS_NAMES: bool = true;

    fn begin(&mut self, _columns: usize) {
        self.results.push(ResultRows::default());
    }

    fn name(&mut self, _column: usize, name: &str) {
        self.current().names.push(name.to_owned());
    }

    fn row(&mut self, row: &dyn Row) {
        let result = self.current();
        result.count += 1;
        result.last = (0..row.len()).map(|column| text(&row.get(column))).collect();
    }
}

/// A field in PostgreSQL's format; NULL is an empty text, as in pgbench.
fn text(value: &Value<'_>) -> String {
    match value {
        // Integers without a point: a variable with one would be a double.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            format!("{number:.0}")
        }
        Value::Float(number) => format!("{number:?}"),
        other => other.to_text().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_in_postgresql() {
        let cases = [
            (Value::Null, ""),
            (Value::Integer(-5), "-5"),
            (Value::Float(2.0), "2"),
            (Value::Float(2.5), "2.5"),
            (Value::Float(1e20), "1e20"),
            (Value::Text("t"), "t"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(&value), expected);
        }
    }
}
