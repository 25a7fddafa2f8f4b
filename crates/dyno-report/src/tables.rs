//! The tables of the text and Markdown reports: which figures stand in which column. Nothing is computed here.

use super::figures::{self, digits};
use super::table::{Align, Table};
use crate::messages::{Lang, Message, conclusion, headings};
use dyno_analysis::model::{
    AuditRow, Comparison, Estimate, KindCount, MergedLatency, ReportModel, StatementRow, TreatmentRow,
    TrialFigures, TrialState, UpdateAudit, Validity, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::finding::Severity;
use dyno_model::plan::Metric;

/// A table under construction, in a language.
struct Columns(Lang);

impl Columns {
    fn table(&self, columns: &[(Message, Align)]) -> Table {
        let columns: Vec<_> = columns.iter().map(|(title, align)| (title.text(self.0), *align)).collect();
        Table::new(&columns)
    }
}

use Align::{Left, Right};

fn absent(lang: Lang) -> String {
    headings::ABSENT.text(lang).to_owned()
}

fn or_absent(value: Option<String>, lang: Lang) -> String {
    value.unwrap_or_else(|| absent(lang))
}

fn mean(estimate: Option<Estimate>, lang: Lang) -> String {
    or_absent(estimate.map(|estimate| figures::mean(&estimate)), lang)
}

/// The mean of a treatment's times, with the number of trials that it rests on when that is not all of the valid ones.
fn time(row: &TreatmentRow, estimate: Option<Estimate>, lang: Lang) -> String {
    let text = mean(estimate, lang);
    match estimate.filter(|estimate| estimate.repeats != row.trials_valid) {
        Some(estimate) => format!("{text} (n = {})", estimate.repeats),
        None => text,
    }
}

/// Main result: a group per line, a row per number of clients.
pub(super) fn results(model: &ReportModel, lang: Lang) -> Table {
    let arrivals = [(headings::ARRIVED, Right), (headings::NEVER_STARTED, Right)];
    let arrivals = if model.has_open_loop() { &arrivals[..] } else { &[] };
    let before = [
        (headings::CLIENTS, Right),
        (headings::TRIALS_VALID, Right),
        (headings::THROUGHPUT, Right),
        (headings::INTERVAL, Right),
        (headings::MEAN_MS, Right),
        (headings::P95_MS, Right),
        (headings::P99_MS, Right),
    ];
    let after = [
        (headings::FAILED, Right),
        (headings::RETRIES, Right),
        (headings::LOST_PERCENT, Right),
        (headings::VALIDITY_COLUMN, Left),
    ];
    let mut table = Columns(lang).table(&[&before[..], arrivals, &after].concat());
    for (line, name) in model.lines.iter().enumerate() {
        table.group(&name.label);
        for row in rows_of(model, line) {
            let mut cells = vec![
                row.clients.to_string(),
                trials_valid(row),
                mean(row.throughput, lang),
                or_absent(row.throughput.as_ref().and_then(figures::half_width), lang),
                time(row, row.mean, lang),
                time(row, row.p95, lang),
                time(row, row.p99, lang),
            ];
            if model.has_open_loop() {
                cells.extend([row.arrived, row.unstarted].map(|n| or_absent(n.map(figures::count), lang)));
            }
            cells.extend([
                figures::count(row.failed),
                figures::count(row.retries),
                or_absent(row.lost_percent.map(figures::percent), lang),
                validity(row.validity, lang).to_owned(),
            ]);
            table.row(cells);
        }
    }
    table
}

/// Treatments of a line by rising number of clients.
fn rows_of(model: &ReportModel, line: usize) -> Vec<&TreatmentRow> {
    let mut rows: Vec<_> = model.treatments.iter().filter(|row| row.line == line).collect();
    rows.sort_by_key(|row| row.clients);
    rows
}

/// `5`, or `4/5` when a planned trial is not among the valid ones.
fn trials_valid(row: &TreatmentRow) -> String {
    if row.trials_valid == row.trials_planned {
        row.trials_valid.to_string()
    } else {
        format!("{}/{}", row.trials_valid, row.trials_planned)
    }
}

pub(super) fn validity(validity: Validity, lang: Lang) -> &'static str {
    match validity {
        Validity::Valid => headings::VALID,
        Validity::Warned => headings::WARNED,
        Validity::Invalid => headings::INVALID,
        Validity::Missing => headings::MISSING,
    }
    .text(lang)
}

pub(super) fn audit_verdict(verdict: AuditVerdict, lang: Lang) -> &'static str {
    match verdict {
        AuditVerdict::Intact => headings::INTACT,
        AuditVerdict::NotChecked => headings::NOT_CHECKED,
        AuditVerdict::Undecided => headings::UNDECIDED,
        AuditVerdict::Violated => headings::VIOLATED,
    }
    .text(lang)
}

pub(super) fn severity(severity: Severity, lang: Lang) -> &'static str {
    match severity {
        Severity::Note => headings::NOTE,
        Severity::Warning => headings::WARNING,
        Severity::Invalid => headings::SEVERITY_INVALID,
    }
    .text(lang)
}

pub(super) fn verdict(verdict: Option<Verdict>, lang: Lang) -> &'static str {
    match verdict {
        Some(Verdict::Better) => headings::VERDICT_BETTER,
        Some(Verdict::Worse) => headings::VERDICT_WORSE,
        Some(Verdict::Equivalent) => headings::VERDICT_EQUIVALENT,
        Some(Verdict::Inconclusive) => headings::VERDICT_INCONCLUSIVE,
        Some(Verdict::Invalid) => headings::VERDICT_INVALID,
        None => headings::VERDICT_NONE,
    }
    .text(lang)
}

/// Updates acknowledged against updates in the data, and row counts that are wrong.
pub(super) fn audits(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::CLIENTS, Right),
        (headings::AUDIT_VERDICT, Left),
        (headings::COMMITTED, Right),
        (headings::LOST, Right),
        (headings::LOST_PERCENT, Right),
        (headings::WITNESSED, Right),
        (headings::PHANTOM, Right),
        (headings::IN_DOUBT, Right),
        (headings::STATEMENT_ERRORS, Right),
    ]);
    for (line, name) in model.lines.iter().enumerate() {
        let mut audits: Vec<_> =
            model.audits.iter().filter(|audit| model.treatments[audit.treatment].line == line).collect();
        audits.sort_by_key(|audit| model.treatments[audit.treatment].clients);
        if !audits.is_empty() {
            table.group(&name.label);
        }
        for audit in audits {
            let updates = audit.updates.as_ref();
            let number = |value: Option<u64>| or_absent(value.map(figures::count), lang);
            let lost = |range: fn(&UpdateAudit) -> (String, String)| {
                or_absent(updates.map(range).map(|(min, max)| figures::range(min, &max, "..")), lang)
            };
            table.row(vec![
                model.treatments[audit.treatment].clients.to_string(),
                audit_verdict(audit.verdict, lang).to_owned(),
                number(updates.map(|updates| updates.committed)),
                lost(|updates| (figures::count(updates.lost), figures::count(updates.lost_max))),
                lost(|updates| {
                    (figures::percent(updates.lost_percent), figures::percent(updates.lost_percent_max))
                }),
                number(updates.map(|updates| updates.witnessed)),
                number(updates.map(|updates| updates.phantom)),
                number(updates.map(|updates| updates.in_doubt)),
                number(updates.map(|updates| updates.statement_errors)),
            ]);
        }
    }
    table
}

/// Numbers of rows and sums of columns that were checked.
pub(super) fn contents(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::CLIENTS, Right),
        (headings::TRIAL, Left),
        (headings::CHECKED, Left),
        (headings::EXPECTED, Right),
        (headings::FOUND, Right),
        (headings::AUDIT_VERDICT, Left),
    ]);
    let is_checked = |audit: &&AuditRow| !audit.row_counts.is_empty() || !audit.column_sums.is_empty();
    for audit in model.audits.iter().filter(is_checked) {
        table.group(&model.line_of(audit.treatment).label);
        let clients = model.treatments[audit.treatment].clients;
        let mut add =
            |trial: &str, checked: String, expected: String, found: String, verdict: AuditVerdict| {
                let verdict = audit_verdict(verdict, lang).to_owned();
                table.row(vec![clients.to_string(), trial.to_owned(), checked, expected, found, verdict]);
            };
        for row in &audit.row_counts {
            let expected =
                figures::range(figures::count(row.expected_min), &figures::count(row.expected_max), "..");
            add(&row.trial, row.table.clone(), expected, figures::count(row.found), row.verdict);
        }
        for sum in &audit.column_sums {
            let expected =
                figures::range(figures::integer(sum.expected_min), &figures::integer(sum.expected_max), "..");
            add(&sum.trial, sum.expression(), expected, figures::integer(sum.found), sum.verdict);
        }
    }
    table
}

pub(super) fn comparisons(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::METRIC, Left),
        (headings::CLIENTS, Right),
        (headings::TRIALS_VALID, Right),
        (headings::RATIO, Right),
        (headings::RATIO_INTERVAL, Right),
        (headings::P_CORRECTED, Right),
        (headings::DETECTABLE, Right),
        (headings::VERDICT, Left),
    ]);
    let mut pair = (usize::MAX, usize::MAX);
    // Both metrics of two lines stand together.
    let mut sorted: Vec<&Comparison> = model.comparisons.iter().collect();
    let lines = |comparison: &Comparison| {
        (model.treatments[comparison.subject].line, model.treatments[comparison.baseline].line)
    };
    sorted.sort_by_key(|comparison| (lines(comparison), comparison.metric as u8, comparison.clients));
    for comparison in sorted {
        if pair != lines(comparison) {
            pair = lines(comparison);
            table.group(&format!("{} : {}", model.lines[pair.0].label, model.lines[pair.1].label));
        }
        let interval = comparison
            .ratio_interval
            .map(|interval| format!("{} .. {}", figures::ratio(interval.low), figures::ratio(interval.high)));
        let detectable = comparison.detectable_ratio.map(|ratio| figures::percent((ratio - 1.0) * 100.0));
        table.row(vec![
            conclusion::metric(comparison.metric, lang).to_owned(),
            comparison.clients.to_string(),
            comparison.repeats.to_string(),
            or_absent(comparison.ratio.map(|ratio| figures::bounded_ratio(ratio, comparison.bound)), lang),
            or_absent(interval, lang),
            or_absent(comparison.p_corrected.map(figures::p_value), lang),
            or_absent(detectable, lang),
            verdict(comparison.verdict, lang).to_owned(),
        ]);
    }
    table
}

/// Response times of the transaction and each kind of statement, a group per treatment.
pub(super) fn statements(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::STATEMENT, Left),
        (headings::OK, Right),
        (headings::FAILED, Right),
        (headings::MEAN, Right),
        (headings::STANDARD_DEVIATION, Right),
        (headings::MIN, Right),
        (headings::P50, Right),
        (headings::P70, Right),
        (headings::P80, Right),
        (headings::P90, Right),
        (headings::P95, Right),
        (headings::P99, Right),
        (headings::P999, Right),
        (headings::MAX, Right),
    ]);
    for statements in &model.statements {
        let treatment = &model.treatments[statements.treatment];
        let label = &model.lines[treatment.line].label;
        table.group(&format!("{label}, {}", conclusion::clients(&[treatment.clients], lang)));
        table.row(statement_row(&statements.transaction, lang));
        for statement in &statements.statements {
            table.row(statement_row(statement, lang));
        }
    }
    table
}

fn statement_row(row: &StatementRow, lang: Lang) -> Vec<String> {
    let latency = row.latency.as_ref();
    let value = |pick: fn(&MergedLatency) -> f64| or_absent(latency.map(pick).map(digits), lang);
    let mut cells = vec![row.name.clone(), figures::count(row.ok), figures::count(row.failed)];
    cells.push(or_absent(latency.map(figures::merged_mean), lang));
    cells.extend([value(|latency| latency.standard_deviation), value(|latency| latency.min)]);
    cells.extend(figures::merged_percentiles(latency).map(|shown| or_absent(shown, lang)));
    cells.push(or_absent(latency.map(figures::merged_max), lang));
    cells
}

/// Failed and retried transactions by the kind of error; empty when there were none.
pub(super) fn failures(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::CLIENTS, Right),
        (headings::KIND, Left),
        (headings::FAILED, Right),
        (headings::RETRIES, Right),
    ]);
    let mut line = usize::MAX;
    for row in &model.treatments {
        let number = |kinds: &[KindCount], kind: FailureKind| {
            kinds.iter().find(|counted| counted.kind == kind).map_or(0, |counted| counted.count)
        };
        for kind in FailureKind::ALL {
            let (failed, retries) = (number(&row.failed_by_kind, kind), number(&row.retries_by_kind, kind));
            if failed + retries == 0 {
                continue;
            }
            if row.line != line {
                line = row.line;
                table.group(&model.lines[line].label);
            }
            let cells =
                [row.clients.to_string(), kind.to_string(), figures::count(failed), figures::count(retries)];
            table.row(cells.to_vec());
        }
    }
    table
}

pub(super) fn generator(model: &ReportModel, lang: Lang) -> Table {
    let mut columns = vec![
        (headings::CLIENTS, Right),
        (headings::WORKERS, Right),
        (headings::WORKER_CPU, Right),
        (headings::HELD_UP, Right),
        (headings::CPU_USER, Right),
        (headings::CPU_SYSTEM, Right),
        (headings::WAKEUP_LAG, Right),
        (headings::MEMORY, Right),
    ];
    if model.has_open_loop() {
        columns.push((headings::LAG, Right));
    }
    let mut table = Columns(lang).table(&columns);
    let mut line = usize::MAX;
    for row in &model.generator {
        let treatment = &model.treatments[row.treatment];
        if treatment.line != line {
            line = treatment.line;
            table.group(&model.lines[line].label);
        }
        let mut cells = vec![
            treatment.clients.to_string(),
            row.workers.to_string(),
            digits(row.worker_cpu_percent_max),
            or_absent(row.held_up_percent_max.map(digits), lang),
            digits(row.cpu_user_per_statement_us),
            digits(row.cpu_system_per_statement_us),
            or_absent(row.wakeup_lag_p99_ms.map(digits), lang),
            digits(row.memory_peak_bytes as f64 / 1e6),
        ];
        if model.has_open_loop() {
            cells.push(or_absent(row.lag_p99_ms.map(digits), lang));
        }
        table.row(cells);
    }
    table
}

/// What trials took of machine and server.
pub(super) fn resources(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::CLIENTS, Right),
        (headings::HOST_CPU, Right),
        (headings::STEAL, Right),
        (headings::SERVER_CPU, Right),
        (headings::GENERATOR_CPU, Right),
        (headings::SERVER_CPU_PER_TRANSACTION, Right),
        (headings::GENERATOR_CPU_PER_TRANSACTION, Right),
        (headings::SWITCHES_PER_TRANSACTION, Right),
        (headings::READ_PER_TRANSACTION, Right),
        (headings::WRITTEN_PER_TRANSACTION, Right),
        (headings::DISK_BUSY, Right),
        (headings::MONITOR_COST, Right),
    ]);
    let mut line = usize::MAX;
    for row in &model.resources {
        let treatment = &model.treatments[row.treatment];
        if treatment.line != line {
            line = treatment.line;
            table.group(&model.lines[line].label);
        }
        let figure = |value: Option<f64>| or_absent(value.map(digits), lang);
        let percent = |value: Option<f64>| or_absent(value.map(figures::percent), lang);
        table.row(vec![
            treatment.clients.to_string(),
            percent(row.busy_percent()),
            percent(row.steal_percent),
            figure(row.server_processors),
            figure(row.generator_processors),
            figure(row.server_cpu_per_transaction_us),
            figure(row.generator_cpu_per_transaction_us),
            figure(row.server_switches_per_transaction),
            figure(row.server_read_bytes_per_transaction.map(|bytes| bytes / 1e3)),
            figure(row.server_written_bytes_per_transaction.map(|bytes| bytes / 1e3)),
            percent(row.disk_busy_percent),
            percent(row.monitor_percent),
        ]);
    }
    table
}

/// Every planned trial in run order.
pub(super) fn trials(model: &ReportModel, lang: Lang) -> Table {
    let arrivals = [(headings::ARRIVED, Right), (headings::NEVER_STARTED, Right)];
    let arrivals = if model.has_open_loop() { &arrivals[..] } else { &[] };
    let before = [
        (headings::TRIAL, Left),
        (headings::SYSTEM, Left),
        (headings::CLIENTS, Right),
        (headings::VALIDITY_COLUMN, Left),
        (headings::THROUGHPUT, Right),
        (headings::MEAN_MS, Right),
        (headings::P95_MS, Right),
        (headings::MAX_MS, Right),
        (headings::GAP_MS, Right),
    ];
    let after = [
        (headings::COMMITTED, Right),
        (headings::FAILED, Right),
        (headings::RETRIES, Right),
        (headings::LOST, Right),
        (headings::REASON, Left),
    ];
    let mut table = Columns(lang).table(&[&before[..], arrivals, &after].concat());
    for trial in &model.trials {
        let of = trial.figures.as_ref();
        let number = |value: Option<u64>| or_absent(value.map(figures::count), lang);
        let decimal = |value: Option<f64>| or_absent(value.map(digits), lang);
        let time = |metric: Metric, pick: fn(&TrialFigures) -> Option<f64>| {
            let shown = of.and_then(|of| Some(figures::bounded(digits(pick(of)?), of.is_bound(metric))));
            or_absent(shown, lang)
        };
        let mut cells = vec![
            trial.id.clone(),
            model.line_of(trial.treatment).label.clone(),
            model.treatments[trial.treatment].clients.to_string(),
            trial_state(trial.state, lang).to_owned(),
            decimal(of.map(|of| of.throughput)),
            time(Metric::MeanMs, |of| of.mean_ms),
            time(Metric::P95Ms, |of| of.p95_ms),
            time(Metric::MeanMs, |of| of.max_ms),
            decimal(of.and_then(|of| of.longest_gap_ms)),
        ];
        if model.has_open_loop() {
            cells.extend([number(of.and_then(|of| of.arrived)), number(of.and_then(|of| of.unstarted))]);
        }
        cells.extend([
            number(of.map(|of| of.committed)),
            number(of.map(|of| of.failed)),
            number(of.map(|of| of.retries)),
            number(of.and_then(|of| of.lost)),
            reasons(trial, lang),
        ]);
        table.row(cells);
    }
    table
}

/// Why a trial is not simply valid; notes are left out.
fn reasons(trial: &dyno_analysis::model::TrialRow, lang: Lang) -> String {
    if !trial.reason.is_empty() {
        return trial.reason.clone();
    }
    let doubts = trial.findings.iter().filter(|finding| finding.severity() > Severity::Note);
    doubts.map(|finding| crate::messages::finding::sentence(finding, lang)).collect::<Vec<_>>().join(" ")
}

pub(super) fn trial_state(state: TrialState, lang: Lang) -> &'static str {
    match state {
        TrialState::Valid => headings::VALID,
        TrialState::Warned => headings::WARNED,
        TrialState::Invalid => headings::INVALID,
        TrialState::Failed => headings::FAILED_TRIAL,
        TrialState::Missing => headings::MISSING,
    }
    .text(lang)
}

pub(super) fn systems(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::SYSTEM, Left),
        (headings::VERSION, Left),
        (headings::SETTING, Left),
        (headings::VALUE, Left),
    ]);
    for system in &model.provenance.systems {
        let version = if system.version.is_empty() { absent(lang) } else { system.version.clone() };
        if system.settings_read.is_empty() {
            table.row(vec![system.name.clone(), version.clone(), absent(lang), absent(lang)]);
        }
        for (setting, value) in &system.settings_read {
            table.row(vec![system.name.clone(), version.clone(), setting.clone(), value.clone()]);
        }
    }
    table
}

pub(super) fn published(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Columns(lang).table(&[
        (headings::SERIES, Left),
        (headings::METRIC, Left),
        (headings::CLIENTS, Right),
        (headings::VALUE, Right),
    ]);
    for series in &model.published {
        let over_clients = series.points.iter().map(|point| (point.clients.to_string(), point.value));
        let over_rows = series.over_rows.iter().map(|point| (figures::count(point.rows), point.value));
        for (place, value) in over_clients.chain(over_rows) {
            let value = figures::value(series.unit, value);
            let value = if series.is_approximate { format!("~{value}") } else { value };
            table.row(vec![
                series.series.clone(),
                conclusion::metric(series.metric, lang).to_owned(),
                place,
                format!("{value} {}", figures::symbol(series.unit)),
            ]);
        }
    }
    table
}
