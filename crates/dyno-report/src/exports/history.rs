//! The history of an experiment: its runs in a table, and a file per series for Apache Otava, which
//! finds change points. Otava needs a number in every cell: runs without a value are in the table
//! only.

use super::series::{series, table};
use crate::csv::CsvDocument;
use crate::json::indented;
use dyno_analysis::model::ReportModel;
use serde_json::{Map, json};

/// The runs of an experiment by time, a row each: start, name of the run, validity and a column per
/// series, as CSV. Cells of missing values are empty.
#[must_use]
pub fn history(models: &[ReportModel]) -> String {
    table(&models.iter().collect::<Vec<_>>())
}

/// Names and contents of the files of a history: `history.csv`, a file per series, and
/// `otava.yaml`, with which `otava analyze all` analyses all series.
#[must_use]
pub fn history_files(models: &[ReportModel]) -> Vec<(String, String)> {
    let series = series(&models.iter().collect::<Vec<_>>());
    let mut files = vec![("history.csv".to_owned(), history(models))];
    let mut tests = Map::new();
    for (number, series) in (1..).zip(&series) {
        let mut document = CsvDocument::default();
        document.line(["time", "run", "value"]);
        for (ReportModel { provenance, .. }, point) in models.iter().zip(&series.points) {
            if let Some(point) = point {
                let value = point.value.to_string();
                document.line([&provenance.started_at, &provenance.run, &value]);
            }
        }
        let file = format!("series-{number:03}.csv");
        let direction = if series.metric.is_more_better() { 1 } else { -1 };
        let test = json!({
            "type": "csv",
            "file": file,
            "time_column": "time",
            "attributes": ["run"],
            "metrics": { "value": { "column": "value", "direction": direction } },
        });
        tests.insert(series.name.clone(), test);
        files.push((file, document.text()));
    }
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    // JSON is YAML, with the quotes that names need.
    let settings = json!({ "tests": tests, "test_groups": { "all": names } });
    files.push(("otava.yaml".to_owned(), indented(&settings)));
    files
}
