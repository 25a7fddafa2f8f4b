//! The CSV report (RFC 4180) in long format, with one figure per line. It lists trials first, then
//! configurations, then the steps of a growing table (scope `step`; the metric's name is followed
//! by `@` and the number of rows at the end of the step), the stages of a load (scope `stage`; `@`
//! and the name of the stage), the transactions of each name (scope `transaction`, if a workload
//! has several), the background workloads (scope `background`; the state is the result of their
//! audits), what workloads derived from TPC-C count (scope `benchmark`; the state is `paced` or
//! `unpaced`), and load generators if there are several (scope `generator`; `@` and its number).
//!
//! Column names, scopes and metrics are part of the format and the same in every language. Columns:
//! `scope` (`trial`, `configuration` or one of the above), `system`, one column per factor,
//! `clients`, `block` and `trial` (empty for configurations), `state`, `metric`, `unit`, `value`,
//! `low` and `high` (95 % interval, empty for trials), `n` (valid trials, empty for trials). A
//! figure that is only a lower bound has no `value` and no `high`: the bound is in `low`.
//! `error:MESSAGE@STATEMENT` counts the errors of a kind; MESSAGE is the first message of that
//! kind.

use crate::messages::Lang;
use dyno_analysis::model::{
    ConfigurationRow, Figure, Figures, KindCount, PartKind, Range, ReportModel, Scope, TrialRow,
    Unit,
};
use dyno_model::printable;
use serde::Serialize;

pub(crate) fn render(model: &ReportModel, _lang: Lang) -> String {
    let mut document = CsvDocument::default();
    let factors = model.factors.iter().map(String::as_str);
    let columns =
        ["clients", "block", "trial", "state", "metric", "unit", "value", "low", "high", "n"];
    document.line(["scope", "system"].into_iter().chain(factors).chain(columns));
    for trial in &model.trials {
        trial_lines(&mut document, model, trial);
    }
    for configuration in 0..model.configurations.len() {
        configuration_lines(&mut document, model, configuration);
    }
    step_lines(&mut document, model);
    for row in &model.parts {
        let part = Owner::part(model, row.part.scope(), row.configuration, &row.name);
        let state = match &row.part {
            PartKind::Background { audit, .. } => word(audit),
            PartKind::Benchmark { is_paced: true, .. } => "paced".to_owned(),
            PartKind::Benchmark { is_paced: false, .. } => "unpaced".to_owned(),
            _ => String::new(),
        };
        document.figures(model, &Owner { state, ..part }, &row.figures);
    }
    document.text()
}

/// The object that a figure belongs to.
struct Owner<'a> {
    scope: Scope,
    configuration: &'a ConfigurationRow,
    block: String,
    trial: &'a str,
    state: String,
    /// Suffix of the names of its metrics.
    suffix: String,
}

impl<'a> Owner<'a> {
    fn of(model: &'a ReportModel, scope: Scope, configuration: usize) -> Self {
        let (configuration, [block, state, suffix]) =
            (&model.configurations[configuration], Default::default());
        Self { scope, configuration, block, trial: "", state, suffix }
    }

    /// A part of a configuration.
    fn part(model: &'a ReportModel, scope: Scope, configuration: usize, part: &str) -> Self {
        Self { suffix: format!("@{part}"), ..Self::of(model, scope, configuration) }
    }
}

/// The CSV writer.
pub(crate) struct CsvDocument(::csv::Writer<Vec<u8>>);

impl Default for CsvDocument {
    fn default() -> Self {
        Self(::csv::Writer::from_writer(Vec::new()))
    }
}

impl CsvDocument {
    pub(crate) fn line(&mut self, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        self.0.write_record(cells).expect("lines of a document are equally long");
    }

    pub(crate) fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("cells are text")
    }

    /// Writes a line per figure.
    fn figures(&mut self, model: &ReportModel, owner: &Owner<'_>, figures: &Figures) {
        for (metric, figure) in figures.iter() {
            self.figure(model, owner, (metric.id(), metric.unit()), figure);
        }
    }

    fn figure(&mut self, model: &ReportModel, owner: &Owner<'_>, of: (&str, Unit), figure: Figure) {
        let series = &model.series[owner.configuration.series];
        let clients = owner.configuration.clients.to_string();
        let (value, is_bound) = (figure.value(), figure.is_bound());
        let (interval, repeats) = match figure {
            Figure::Mean(mean) => (mean.interval, Some(mean.repeats)),
            _ => (None, None),
        };
        let value = value.to_string();
        let end =
            |of: fn(Range) -> f64| interval.map(|range| of(range).to_string()).unwrap_or_default();
        let [value, low, high] = match is_bound {
            true => [String::new(), value, String::new()],
            false => [value, end(|range| range.low), end(|range| range.high)],
        };
        let repeats = repeats.map(|repeats| repeats.to_string()).unwrap_or_default();
        let levels = series.levels.iter().map(String::as_str);
        let (metric, unit) = (format!("{}{}", of.0, owner.suffix), word(&of.1));
        let rest = [
            &clients,
            &owner.block,
            owner.trial,
            &owner.state,
            &metric,
            &unit,
            &value,
            &low,
            &high,
            &repeats,
        ];
        let scope = word(&owner.scope);
        self.line([&*scope, &series.system_name].into_iter().chain(levels).chain(rest));
    }
}

fn trial_lines(document: &mut CsvDocument, model: &ReportModel, trial: &TrialRow) {
    let owner = Owner {
        block: trial.block.to_string(),
        trial: &trial.id,
        state: word(&trial.state),
        ..Owner::of(model, Scope::Trial, trial.configuration)
    };
    match &trial.figures {
        Some(figures) => document.figures(model, &owner, figures),
        // A trial without figures still gets a line, so that it is visible that it was planned.
        None => document.figure(model, &owner, ("committed", Unit::Count), 0_u64.into()),
    }
}

/// Lines of a growing table, step by step.
fn step_lines(document: &mut CsvDocument, model: &ReportModel) {
    let Some(growth) = &model.growth else { return };
    for series in &growth.series {
        for (step, rows) in series.steps.iter().zip(&growth.milestones) {
            let owner = Owner::part(model, Scope::Step, series.configuration, &rows.to_string());
            document.figures(model, &owner, step);
        }
    }
}

fn configuration_lines(document: &mut CsvDocument, model: &ReportModel, configuration: usize) {
    let row = &model.configurations[configuration];
    let of_configuration = || Owner {
        state: word(&row.validity),
        ..Owner::of(model, Scope::Configuration, configuration)
    };
    let owner = of_configuration();
    document.figures(model, &owner, &row.figures);
    for (what, kinds) in [("failed", &row.failed_by_kind), ("retries", &row.retries_by_kind)] {
        for KindCount { kind, count } in kinds {
            document.figure(
                model,
                &owner,
                (&format!("{what}:{kind}"), Unit::Count),
                (*count).into(),
            );
        }
    }
    for error in &row.errors.0 {
        let metric =
            printable::line(&format!("error:{}@{}", error.failure, error.statement)).into_owned();
        document.figure(model, &owner, (&metric, Unit::Count), error.count.into());
    }
    if let Some(faults) = model.faults.iter().find(|row| row.configuration == configuration) {
        for errors in &faults.errors {
            let of_kind = Owner { suffix: format!(":{}", errors.kind), ..of_configuration() };
            document.figures(model, &of_kind, &errors.figures);
        }
    }
    if let Some(monitored) = &row.monitored {
        for (name, value) in &monitored.server_counters_per_transaction {
            let metric = format!("per-transaction:{name}");
            document.figure(model, &owner, (&metric, Unit::Count), (*value).into());
        }
    }
}

/// The JSON name of a unit or state.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
