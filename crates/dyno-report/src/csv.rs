//! The figures as CSV (RFC 4180) in long format: one figure per line, first of every trial, then of every treatment, then of every
//! step of a table that grows (scope `step`; behind its name and `@` the metric has the number of rows at the step's end).
//!
//! Column names, scopes and metrics are part of the format and the same in every language. Columns: `scope` (`trial` or
//! `treatment`), `system`, one column per factor, `clients`, `block` and `trial` (empty for treatments), `state`,
//! `metric`, `unit`, `value`, `low` and `high` (95 % interval, empty for trials), `n` (valid trials, empty for trials). A figure that is
//! only a lower bound has no `value` and no `high`: the bound is in `low`.

use crate::messages::Lang;
use dyno_analysis::model::{Estimate, KindCount, ReportModel, ResourceRow, TreatmentRow, TrialRow, Unit};
use dyno_model::plan::Metric;
use serde::Serialize;

/// Renders all figures.
#[must_use]
pub fn render(model: &ReportModel, _lang: Lang) -> String {
    let mut sheet = Sheet::default();
    let factors = model.factors.iter().map(String::as_str);
    let columns = ["clients", "block", "trial", "state", "metric", "unit", "value", "low", "high", "n"];
    sheet.line(["scope", "system"].into_iter().chain(factors).chain(columns));
    for trial in &model.trials {
        trial_lines(&mut sheet, model, trial);
    }
    for treatment in 0..model.treatments.len() {
        treatment_lines(&mut sheet, model, treatment);
    }
    step_lines(&mut sheet, model);
    sheet.text
}

/// One figure.
struct Figure {
    metric: String,
    unit: Unit,
    value: f64,
    /// True when `value` is only a lower bound.
    is_bound: bool,
    interval: Option<(f64, f64)>,
    repeats: Option<u32>,
}

impl Figure {
    fn new(metric: &str, unit: Unit, value: f64) -> Self {
        Self { metric: metric.to_owned(), unit, value, is_bound: false, interval: None, repeats: None }
    }
}

/// What a figure belongs to.
struct Owner<'a> {
    scope: &'a str,
    treatment: &'a TreatmentRow,
    block: String,
    trial: &'a str,
    state: String,
}

#[derive(Default)]
pub(super) struct Sheet {
    pub(super) text: String,
}

impl Sheet {
    pub(super) fn line<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quoted(cell));
        }
        self.text.push('\n');
    }

    fn figure(&mut self, model: &ReportModel, owner: &Owner<'_>, figure: &Figure) {
        let line = &model.lines[owner.treatment.line];
        let clients = owner.treatment.clients.to_string();
        let (value, low, high) = match (figure.is_bound, figure.interval) {
            (true, _) => (String::new(), figure.value.to_string(), String::new()),
            (false, None) => (figure.value.to_string(), String::new(), String::new()),
            (false, Some((low, high))) => (figure.value.to_string(), low.to_string(), high.to_string()),
        };
        let repeats = figure.repeats.map(|repeats| repeats.to_string()).unwrap_or_default();
        let levels = line.levels.iter().map(String::as_str);
        let unit = word(&figure.unit);
        let rest = [
            &clients,
            &owner.block,
            owner.trial,
            &owner.state,
            &figure.metric,
            &unit,
            &value,
            &low,
            &high,
            &repeats,
        ];
        self.line([owner.scope, &line.system_name].into_iter().chain(levels).chain(rest));
    }
}

fn trial_lines(sheet: &mut Sheet, model: &ReportModel, trial: &TrialRow) {
    let owner = Owner {
        scope: "trial",
        treatment: &model.treatments[trial.treatment],
        block: trial.block.to_string(),
        trial: &trial.id,
        state: word(&trial.state),
    };
    let Some(figures) = &trial.figures else {
        // A trial without figures still has a line, so that nobody takes it for never planned.
        sheet.figure(model, &owner, &Figure::new("committed", Unit::Count, 0.0));
        return;
    };
    let mut list = vec![Figure::new("throughput", Unit::TransactionsPerSecond, figures.throughput)];
    let times = [
        ("mean", Metric::MeanMs, figures.mean_ms),
        ("p50", Metric::P50Ms, figures.p50_ms),
        ("p95", Metric::P95Ms, figures.p95_ms),
        ("p99", Metric::P99Ms, figures.p99_ms),
        // The largest is a bound where the mean is.
        ("max", Metric::MeanMs, figures.max_ms),
    ];
    list.extend(times.into_iter().filter_map(|(name, metric, time)| {
        let is_bound = figures.is_bound(metric);
        Some(Figure { is_bound, ..Figure::new(name, Unit::Milliseconds, time?) })
    }));
    list.extend(arrivals(figures.arrived, figures.unstarted));
    list.extend([
        Figure::new("window", Unit::Seconds, figures.measured_s),
        Figure::new("committed", Unit::Count, figures.committed as f64),
        Figure::new("failed", Unit::Count, figures.failed as f64),
        Figure::new("unfinished", Unit::Count, figures.unfinished as f64),
        Figure::new("retries", Unit::Count, figures.retries as f64),
    ]);
    list.extend(skipped(figures.skipped));
    list.extend(figures.longest_gap_ms.map(|gap| Figure::new("longest_gap", Unit::Milliseconds, gap)));
    list.extend(figures.lost.map(|lost| Figure::new("lost", Unit::Count, lost as f64)));
    for figure in &list {
        sheet.figure(model, &owner, figure);
    }
}

/// What became of the arrivals of an open loop.
fn arrivals(arrived: Option<u64>, unstarted: Option<u64>) -> impl Iterator<Item = Figure> {
    let figures = [("arrived", arrived), ("never-started", unstarted)];
    figures.into_iter().filter_map(|(name, count)| Some(Figure::new(name, Unit::Count, count? as f64)))
}

/// A table that grows, step by step.
fn step_lines(sheet: &mut Sheet, model: &ReportModel) {
    let Some(growth) = &model.growth else { return };
    for line in &growth.lines {
        let owner = Owner {
            scope: "step",
            treatment: &model.treatments[line.treatment],
            block: String::new(),
            trial: "",
            state: String::new(),
        };
        for (step, rows) in line.steps.iter().zip(&growth.milestones) {
            let figures = [
                ("throughput", step.rows_per_second),
                ("cpu", step.cpu_percent),
                ("server-cpu", step.server_percent),
                ("disk-read-per-second", step.disk_read),
                ("disk-written-per-second", step.disk_written),
                ("disk-busy", step.disk_busy_percent),
                ("data", step.data_bytes),
            ];
            for (metric, estimate) in figures {
                if let Some(estimate) = &estimate {
                    sheet.figure(model, &owner, &estimated(&format!("{metric}@{rows}"), estimate));
                }
            }
        }
    }
}

fn treatment_lines(sheet: &mut Sheet, model: &ReportModel, treatment: usize) {
    let row = &model.treatments[treatment];
    let owner = Owner {
        scope: "treatment",
        treatment: row,
        block: String::new(),
        trial: "",
        state: word(&row.validity),
    };
    let estimates = [
        ("throughput", row.throughput),
        ("mean", row.mean),
        ("p50", row.p50),
        ("p95", row.p95),
        ("p99", row.p99),
    ];
    let mut list: Vec<Figure> =
        estimates.into_iter().filter_map(|(metric, estimate)| Some(estimated(metric, &estimate?))).collect();
    if let Some(merged) = &row.merged {
        let percentiles = [
            ("merged-p50", 50.0, merged.p50),
            ("merged-p70", 70.0, merged.p70),
            ("merged-p80", 80.0, merged.p80),
            ("merged-p90", 90.0, merged.p90),
            ("merged-p95", 95.0, merged.p95),
            ("merged-p99", 99.0, merged.p99),
            ("merged-p99.9", 99.9, merged.p999),
            ("merged-max", 100.0, Some(merged.max)),
        ];
        list.extend(percentiles.into_iter().filter_map(|(metric, percentile, value)| {
            let is_bound = merged.is_bound(percentile);
            Some(Figure { is_bound, ..Figure::new(metric, Unit::Milliseconds, value?) })
        }));
    }
    list.extend(arrivals(row.arrived, row.unstarted));
    list.extend([
        Figure::new("committed", Unit::Count, row.committed as f64),
        Figure::new("failed", Unit::Count, row.failed as f64),
        Figure::new("unfinished", Unit::Count, row.unfinished as f64),
        Figure::new("retries", Unit::Count, row.retries as f64),
    ]);
    list.extend(skipped(row.skipped));
    list.extend(by_kind("failed", &row.failed_by_kind));
    list.extend(by_kind("retries", &row.retries_by_kind));
    list.extend(row.lost_percent.map(|lost| Figure::new("lost", Unit::Percent, lost)));
    let monitored = model.resources.iter().find(|row| row.treatment == treatment);
    list.extend(monitored.map(resources).unwrap_or_default());
    for figure in &list {
        sheet.figure(model, &owner, figure);
    }
}

/// What trials took of machine and server.
fn resources(row: &ResourceRow) -> Vec<Figure> {
    let figures = [
        ("cpu-user", Unit::Percent, row.user_percent),
        ("cpu-system", Unit::Percent, row.system_percent),
        ("cpu-iowait", Unit::Percent, row.iowait_percent),
        ("cpu-steal", Unit::Percent, row.steal_percent),
        ("server-processors", Unit::Count, row.server_processors),
        ("generator-processors", Unit::Count, row.generator_processors),
        ("server-cpu-per-transaction", Unit::Microseconds, row.server_cpu_per_transaction_us),
        ("generator-cpu-per-transaction", Unit::Microseconds, row.generator_cpu_per_transaction_us),
        ("server-switches-per-transaction", Unit::Count, row.server_switches_per_transaction),
        ("server-read-per-transaction", Unit::Bytes, row.server_read_bytes_per_transaction),
        ("server-written-per-transaction", Unit::Bytes, row.server_written_bytes_per_transaction),
        ("server-memory", Unit::Bytes, row.server_resident_bytes),
        ("server-threads", Unit::Count, row.server_threads),
        ("disk-busy", Unit::Percent, row.disk_busy_percent),
        ("disk-queue", Unit::Count, row.disk_queue),
        ("disk-read-per-second", Unit::Bytes, row.disk_read_bytes_per_second),
        ("disk-written-per-second", Unit::Bytes, row.disk_written_bytes_per_second),
        ("cpu-pressure", Unit::Percent, row.cpu_pressure_percent),
        ("io-pressure", Unit::Percent, row.io_pressure_percent),
        ("memory-pressure", Unit::Percent, row.memory_pressure_percent),
        ("monitor", Unit::Percent, row.monitor_percent),
    ];
    let known =
        figures.into_iter().filter_map(|(metric, unit, value)| Some(Figure::new(metric, unit, value?)));
    let counters = &row.server_counters_per_transaction;
    let counters = counters
        .iter()
        .map(|(name, value)| Figure::new(&format!("per-transaction:{name}"), Unit::Count, *value));
    known.chain(counters).collect()
}

fn estimated(metric: &str, estimate: &Estimate) -> Figure {
    Figure {
        interval: estimate.interval.map(|interval| (interval.low, interval.high)),
        repeats: Some(estimate.repeats),
        is_bound: estimate.is_bound,
        ..Figure::new(metric, estimate.unit, estimate.mean)
    }
}

/// Transactions that were skipped, where there are any.
fn skipped(number: u64) -> Option<Figure> {
    (number > 0).then(|| Figure::new("skipped", Unit::Count, number as f64))
}

fn by_kind(what: &str, kinds: &[KindCount]) -> Vec<Figure> {
    let figure =
        |kind: &KindCount| Figure::new(&format!("{what}:{}", kind.kind), Unit::Count, kind.count as f64);
    kinds.iter().map(figure).collect()
}

/// The word that JSON uses for a unit or state.
pub(super) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A cell, in quotes where it needs them.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_quotes_and_line_ends_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
    }
}
