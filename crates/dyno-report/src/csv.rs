//! The figures as CSV (RFC 4180) in long format: one figure per line, first of every trial, then of every treatment, then of every
//! step of a table that grows (scope `step`; behind its name and `@` the metric has the number of rows at the step's end), and of every stage of
//! a load (scope `stage`; behind `@` stands the name of the stage), and of the transactions of each name (scope `transaction`, where a workload has several), and
//! of each workload beside (scope `beside`; the state is what its audits came to).
//!
//! Column names, scopes and metrics are part of the format and the same in every language. Columns: `scope` (`trial` or
//! `treatment`), `system`, one column per factor, `clients`, `block` and `trial` (empty for treatments), `state`,
//! `metric`, `unit`, `value`, `low` and `high` (95 % interval, empty for trials), `n` (valid trials, empty for trials). A figure that is
//! only a lower bound has no `value` and no `high`: the bound is in `low`.

use crate::measures::{
    FAULT, FAULT_ERRORS, FOUND, Figure, LATENCY, Measure, NAMED, RESOURCES, STAGE, STEP, TREATMENT_BOOKS,
    TREATMENT_LOST, TREATMENT_RATES, TRIAL,
};
use crate::messages::Lang;
use dyno_analysis::model::{KindCount, Range, ReportModel, TreatmentRow, TrialRow, Unit};
use serde::Serialize;

pub(crate) fn render(model: &ReportModel, _lang: Lang) -> String {
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
    for stage in &model.stages {
        let owner = Owner::of(&model.treatments[stage.treatment], "stage", String::new());
        sheet.figures_at(model, &owner, STAGE, stage, &stage.name);
    }
    for named in &model.transactions {
        let owner = Owner::of(&model.treatments[named.treatment], "transaction", String::new());
        sheet.figures_at(model, &owner, NAMED, named, &named.name);
    }
    for beside in &model.beside {
        let owner = Owner::of(&model.treatments[beside.figures.treatment], "beside", word(&beside.audit));
        sheet.figures_at(model, &owner, NAMED, &beside.figures, &beside.figures.name);
    }
    sheet.text()
}

/// What a figure belongs to.
struct Owner<'a> {
    scope: &'a str,
    treatment: &'a TreatmentRow,
    block: String,
    trial: &'a str,
    state: String,
}

impl<'a> Owner<'a> {
    /// A treatment, or a step of it.
    fn of(treatment: &'a TreatmentRow, scope: &'a str, state: String) -> Self {
        Self { scope, treatment, block: String::new(), trial: "", state }
    }
}

/// Lines of cells.
pub(super) struct Sheet(::csv::Writer<Vec<u8>>);

impl Default for Sheet {
    fn default() -> Self {
        Self(::csv::Writer::from_writer(Vec::new()))
    }
}

impl Sheet {
    pub(super) fn line(&mut self, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        self.0.write_record(cells).expect("lines of a sheet are equally long");
    }

    pub(super) fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("cells are text")
    }

    /// A line per measure that the row has.
    fn figures<R>(&mut self, model: &ReportModel, owner: &Owner<'_>, measures: &[Measure<R>], row: &R) {
        for measure in measures.iter().filter(|measure| !measure.id.is_empty()) {
            if let Some(figure) = (measure.of)(row) {
                self.figure(model, owner, (measure.id, measure.unit), figure);
            }
        }
    }

    /// The same; behind its name each measure has a place, which is a part of its owner.
    fn figures_at<R>(
        &mut self,
        model: &ReportModel,
        owner: &Owner<'_>,
        measures: &[Measure<R>],
        row: &R,
        place: &str,
    ) {
        for measure in measures.iter().filter(|measure| !measure.id.is_empty()) {
            if let Some(figure) = (measure.of)(row) {
                self.figure(model, owner, (&format!("{}@{place}", measure.id), measure.unit), figure);
            }
        }
    }

    fn figure(&mut self, model: &ReportModel, owner: &Owner<'_>, of: (&str, Unit), figure: Figure) {
        let line = &model.lines[owner.treatment.line];
        let clients = owner.treatment.clients.to_string();
        let (value, is_bound, interval, repeats) = match figure {
            Figure::Value { value, is_bound } => (value, is_bound, None, None),
            Figure::Mean(mean) => (mean.mean, mean.is_bound, mean.interval, Some(mean.repeats)),
        };
        let value = value.to_string();
        let end = |of: fn(Range) -> f64| interval.map(|range| of(range).to_string()).unwrap_or_default();
        let [value, low, high] = match is_bound {
            true => [String::new(), value, String::new()],
            false => [value, end(|range| range.low), end(|range| range.high)],
        };
        let repeats = repeats.map(|repeats| repeats.to_string()).unwrap_or_default();
        let levels = line.levels.iter().map(String::as_str);
        let (metric, unit) = (of.0, word(&of.1));
        let rest =
            [&clients, &owner.block, owner.trial, &owner.state, metric, &unit, &value, &low, &high, &repeats];
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
    match &trial.figures {
        Some(figures) => sheet.figures(model, &owner, TRIAL, figures),
        // A trial without figures still has a line, so that nobody takes it for never planned.
        None => sheet.figure(model, &owner, ("committed", Unit::Count), 0.0.into()),
    }
}

/// A table that grows, step by step.
fn step_lines(sheet: &mut Sheet, model: &ReportModel) {
    let Some(growth) = &model.growth else { return };
    for line in &growth.lines {
        let owner = Owner::of(&model.treatments[line.treatment], "step", String::new());
        for (step, rows) in line.steps.iter().zip(&growth.milestones) {
            sheet.figures_at(model, &owner, STEP, step, &rows.to_string());
        }
    }
}

fn treatment_lines(sheet: &mut Sheet, model: &ReportModel, treatment: usize) {
    let row = &model.treatments[treatment];
    let owner = Owner::of(row, "treatment", word(&row.validity));
    sheet.figures(model, &owner, TREATMENT_RATES, row);
    for search in model.searches.iter().filter(|search| search.treatment == treatment) {
        sheet.figures(model, &owner, FOUND, search);
    }
    if let Some(merged) = &row.merged {
        sheet.figures(model, &owner, LATENCY, merged);
    }
    sheet.figures(model, &owner, TREATMENT_BOOKS, row);
    for (what, kinds) in [("failed", &row.failed_by_kind), ("retries", &row.retries_by_kind)] {
        for KindCount { kind, count } in kinds {
            sheet.figure(model, &owner, (&format!("{what}:{kind}"), Unit::Count), (*count).into());
        }
    }
    sheet.figures(model, &owner, &[TREATMENT_LOST], row);
    if let Some(faults) = model.faults.iter().find(|row| row.treatment == treatment) {
        sheet.figures(model, &owner, FAULT, faults);
        for errors in &faults.errors {
            for measure in FAULT_ERRORS {
                if let Some(figure) = (measure.of)(errors) {
                    let metric = format!("{}:{}", measure.id, errors.kind);
                    sheet.figure(model, &owner, (&metric, measure.unit), figure);
                }
            }
        }
    }
    if let Some(monitored) = model.resources.iter().find(|row| row.treatment == treatment) {
        sheet.figures(model, &owner, RESOURCES, monitored);
        for (name, value) in &monitored.server_counters_per_transaction {
            let metric = format!("per-transaction:{name}");
            sheet.figure(model, &owner, (&metric, Unit::Count), (*value).into());
        }
    }
}

/// The word that JSON uses for a unit or state.
pub(super) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
