//! The tables of the main part: throughput with what was kept of it, results, comparisons, audit, doubts.

use super::facets::short_factor;
use super::grouped::{self, Column, Row};
use super::{Page, cells};
use crate::figures;
use crate::messages::{conclusion, finding, headings, list, notes, page};
use crate::notes::{Loops, comparison_rules};
use dyno_analysis::model::{AuditRow, Comparison, ComparisonOf, TreatmentRow, UpdateAudit};
use dyno_model::audit::AuditVerdict;
use maud::{Markup, html};

/// Columns of clients that the matrix of throughput and losses holds at most.
const MATRIX_COLUMNS: usize = 8;
/// Rows that a table shows before it is folded.
const ROWS_SHOWN: usize = 48;
/// Witnessed lost updates that are told.
const EXAMPLES: usize = 3;

/// A table, folded when it has many rows.
fn folded(page: &Page<'_>, rows: usize, table: &Markup) -> Markup {
    let all = page.fill(&page::PAGE_ALL_ROWS, &[("number", &rows.to_string())]);
    html! {
        @if rows > ROWS_SHOWN { details { summary { (all) } (table) } } @else { (table) }
    }
}

/// The matrix, and the table of all treatments.
pub(super) fn results(page: &Page<'_>) -> Markup {
    let arrivals = [Column::Figure(&headings::ARRIVED), Column::Figure(&headings::NEVER_STARTED)];
    let arrivals = if page.model.has_open_loop() { &arrivals[..] } else { &[] };
    let before = [
        Column::Figure(&headings::TRIALS_VALID),
        Column::Figure(&headings::THROUGHPUT),
        Column::Figure(&headings::MEAN_MS),
        Column::Figure(&headings::P95_MS),
        Column::Figure(&headings::P99_MS),
    ];
    let after = [
        Column::Figure(&headings::RETRIES),
        Column::Figure(&headings::FAILED),
        Column::Figure(&headings::LOST_PERCENT),
        Column::Word(&headings::VALIDITY_COLUMN),
    ];
    let columns = [&before[..], arrivals, &after].concat();
    let treatments = page.model.treatments.iter().enumerate();
    let rows: Vec<Row> =
        treatments.map(|(treatment, row)| Row { treatment, cells: result_cells(page, row) }).collect();
    html! {
        section #results {
            h2 { (page.text(&headings::RESULTS)) }
            (super::growth::steps(page))
            (kept(page))
            (folded(page, rows.len(), &grouped::table(page, &columns, &rows)))
            p.note { (page.text(&notes::NOTE_ESTIMATES)) " " (page.text(Loops::of(page.model).note())) }
            @if page.model.has_bounds() { p.note { (page.text(&notes::NOTE_BOUNDS)) } }
        }
    }
}

fn result_cells(page: &Page<'_>, row: &TreatmentRow) -> Markup {
    let is_lossy = row.lost_percent.is_some_and(|percent| percent > 0.0);
    html! {
        td { (row.trials_valid) }
        td.n { (cells::estimate(page, row.throughput.as_ref())) }
        td.n { (cells::estimate_of(page, row, row.mean.as_ref())) }
        td.n { (cells::estimate_of(page, row, row.p95.as_ref())) }
        td.n { (cells::estimate_of(page, row, row.p99.as_ref())) }
        @if page.model.has_open_loop() {
            @for number in [row.arrived, row.unstarted] { td { (cells::number(page, number)) } }
        }
        td { (figures::count(row.retries)) }
        td class=[cells::alarm_if(row.failed > 0)] { (figures::count(row.failed)) }
        td.n.alarm[is_lossy] { (lost_share(page, row.lost_percent)) }
        td.l { (cells::validity_chip(page, row.validity)) }
    }
}

fn lost_share(page: &Page<'_>, percent: Option<f64>) -> String {
    percent.map_or_else(|| page.text(&headings::ABSENT).to_owned(), figures::percent)
}

/// Lines by clients; in each cell the throughput and, at the same size, what was lost of it.
fn kept(page: &Page<'_>) -> Markup {
    let rows = &page.model.treatments;
    let mut levels: Vec<u32> = rows.iter().map(|row| row.clients).collect();
    levels.sort_unstable();
    levels.dedup();
    if levels.len() > MATRIX_COLUMNS || rows.iter().all(|row| row.lost_percent.is_none()) {
        return html! {};
    }
    let row_at =
        |line: usize, clients: u32| rows.iter().find(|row| row.line == line && row.clients == clients);
    html! {
        h3 { (page.text(&page::PAGE_KEPT)) }
        div.wide { table.kept {
            thead { tr {
                th.l scope="col" { (page.text(&headings::SYSTEM)) }
                @for clients in &levels { th.n scope="col" { (conclusion::clients(&[*clients], page.lang)) } }
            } }
            @for facet in &page.facets.all { tbody {
                @if !facet.title.is_empty() {
                    tr { th.group scope="rowgroup" colspan=(levels.len() + 1) { (facet.title) } }
                }
                @for member in &facet.members { tr {
                    th scope="row" { (member.label) }
                    @for clients in &levels { td { (kept_cell(page, row_at(member.line, *clients))) } }
                } }
            } }
        } }
        p.note { (page.text(&page::PAGE_KEPT_NOTE)) }
    }
}

fn kept_cell(page: &Page<'_>, row: Option<&TreatmentRow>) -> Markup {
    let Some(row) = row else { return html! {} };
    let throughput = row.throughput.as_ref();
    html! {
        @match throughput {
            Some(estimate) => (figures::value(estimate.unit, estimate.mean)),
            None => (page.text(&headings::ABSENT)),
        }
        br;
        @match row.lost_percent {
            None => small { (page.text(&page::PAGE_KEPT_NOT_CHECKED)) },
            Some(0.0) => small { (page.text(&page::PAGE_KEPT_NOTHING_LOST)) },
            Some(percent) => span.alarm {
                (page.fill(&page::PAGE_KEPT_LOST, &[("percent", &figures::percent(percent))]))
            },
        }
    }
}

/// Forest plots and the table of comparisons.
pub(super) fn comparisons(page: &Page<'_>) -> Markup {
    let all = &page.model.comparisons;
    let table = html! {
        div.wide { table.sortable {
            thead { tr {
                th.l scope="col" { (page.text(&headings::SUBJECT)) }
                th.l scope="col" { (page.text(&headings::BASELINE)) }
                th.l scope="col" { (page.text(&headings::METRIC)) }
                @for message in [
                    &headings::CLIENTS, &headings::TRIALS_VALID, &headings::RATIO, &headings::RATIO_INTERVAL,
                    &headings::P_CORRECTED, &headings::DETECTABLE,
                ] { th scope="col" { (page.text(message)) } }
                th.l scope="col" { (page.text(&headings::VERDICT)) }
            } }
            tbody { @for comparison in all { (comparison_row(page, comparison)) } }
        } }
    };
    html! {
        section #comparisons {
            h2 { (page.text(&headings::COMPARISONS)) }
            @if all.is_empty() {
                p { (page.text(&page::PAGE_NO_COMPARISONS)) }
            } @else {
                @for figure in super::forests::figures(page) { (figure.markup(page)) }
                (folded(page, all.len(), &table))
                p.note {
                    (comparison_rules(page.model, page.lang)) " " (page.text(&notes::NOTE_DETECTABLE))
                }
                (super::growth::comparisons(page))
            }
        }
    }
}

fn comparison_row(page: &Page<'_>, comparison: &Comparison) -> Markup {
    let model = page.model;
    let label = |treatment: usize| model.line_of(treatment).label.as_str();
    let absent = page.text(&headings::ABSENT);
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| absent.to_owned());
    let detectable = comparison.detectable_ratio.map(|ratio| figures::percent((ratio - 1.0) * 100.0));
    let factor = match comparison.of {
        ComparisonOf::System => None,
        ComparisonOf::Level { factor } => model.factors.get(factor).map(|name| short_factor(name)),
    };
    html! {
        tr {
            th scope="row" title=[factor] { (label(comparison.subject)) }
            td.l { (label(comparison.baseline)) }
            td.l { (conclusion::metric(comparison.metric, page.lang)) }
            td { (comparison.clients) }
            td { (comparison.repeats) }
            td.n { (or_absent(comparison.ratio.map(|ratio| figures::bounded_ratio(ratio, comparison.bound)))) }
            td.n { (cells::range(page, comparison.ratio_interval)) }
            td.n { (or_absent(comparison.p_corrected.map(figures::p_value))) }
            td.n { (or_absent(detectable)) }
            td.l { (cells::verdict_chip(page, comparison.verdict)) }
        }
    }
}

/// What the data said.
pub(super) fn audit(page: &Page<'_>) -> Markup {
    let audits = &page.model.audits;
    let has_updates = audits.iter().any(|row| row.updates.is_some());
    html! {
        section #audit {
            h2 { (page.text(&headings::AUDIT)) }
            @if audits.is_empty() { p { (page.text(&page::PAGE_NO_AUDIT)) } }
            @if has_updates {
                (folded(page, audits.len(), &update_table(page)))
                p.note { (page.text(&notes::NOTE_AUDIT)) }
                (witnesses(page))
            }
            (contents(page))
            @for row in audits { @for reason in &row.not_run {
                p.note { (cells::treatment_name(page, row.treatment)) ": " (reason) }
            } }
        }
    }
}

fn update_table(page: &Page<'_>) -> Markup {
    let columns = [
        Column::Figure(&headings::COMMITTED),
        Column::Figure(&headings::LOST),
        Column::Figure(&headings::LOST_PERCENT),
        Column::Figure(&headings::WITNESSED),
        Column::Figure(&headings::PHANTOM),
        Column::Figure(&headings::IN_DOUBT),
        Column::Figure(&headings::STATEMENT_ERRORS),
        Column::Word(&headings::AUDIT_VERDICT),
    ];
    let audited = page.model.audits.iter().filter_map(|row| {
        let cells = update_cells(page, row, row.updates.as_ref()?);
        Some(Row { treatment: row.treatment, cells })
    });
    grouped::table(page, &columns, &audited.collect::<Vec<_>>())
}

fn update_cells(page: &Page<'_>, row: &AuditRow, updates: &UpdateAudit) -> Markup {
    html! {
        td { (figures::count(updates.committed)) }
        td class=[cells::alarm_if(updates.lost > 0)] {
            (figures::range(figures::count(updates.lost), &figures::count(updates.lost_max), " – "))
        }
        td.n.alarm[updates.lost > 0] {
            (figures::range(figures::percent(updates.lost_percent), &figures::percent(updates.lost_percent_max), " – "))
        }
        td { (figures::count(updates.witnessed)) }
        td class=[cells::alarm_if(updates.phantom > 0)] { (figures::count(updates.phantom)) }
        td { (figures::count(updates.in_doubt)) }
        td { (figures::count(updates.statement_errors)) }
        td.l { (cells::audit_chip(page, row.verdict)) }
    }
}

fn witnesses(page: &Page<'_>) -> Markup {
    let updates = page.model.audits.iter().filter_map(|row| row.updates.as_ref());
    let examples = updates.flat_map(|updates| &updates.examples).take(EXAMPLES);
    let sentence = |example: &dyno_analysis::model::WitnessExample| {
        let witness = &example.witness;
        let (first, second) = (&witness.first, &witness.second);
        let values = [
            ("trial", example.trial.clone()),
            ("row", witness.row.to_string()),
            ("value", witness.value_read.to_string()),
            ("client_a", first.client.to_string()),
            ("sequence_a", first.sequence.to_string()),
            ("client_b", second.client.to_string()),
            ("sequence_b", second.sequence.to_string()),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        page.fill(&notes::NOTE_WITNESS, &values)
    };
    html! { @for example in examples { p.note { (sentence(example)) } } }
}

/// One number that the data had to hold.
struct Content {
    treatment: usize,
    checked: String,
    expected: String,
    found: String,
    verdict: AuditVerdict,
}

/// Numbers of rows and sums of columns that were checked; wrong ones first, right ones only counted.
fn contents(page: &Page<'_>) -> Markup {
    let mut checks = Vec::new();
    for row in &page.model.audits {
        let treatment = row.treatment;
        checks.extend(row.row_counts.iter().map(|check| Content {
            treatment,
            checked: check.table.clone(),
            expected: figures::range(
                figures::count(check.expected_min),
                &figures::count(check.expected_max),
                " – ",
            ),
            found: figures::count(check.found),
            verdict: check.verdict,
        }));
        checks.extend(row.column_sums.iter().map(|check| Content {
            treatment,
            checked: check.expression(),
            expected: figures::range(
                figures::integer(check.expected_min),
                &figures::integer(check.expected_max),
                " – ",
            ),
            found: figures::integer(check.found),
            verdict: check.verdict,
        }));
    }
    if checks.is_empty() {
        return html! {};
    }
    checks.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let table = html! {
        div.wide { table.sortable {
            thead { tr {
                th.l scope="col" { (page.text(&headings::SYSTEM)) }
                th scope="col" { (page.text(&headings::CLIENTS)) }
                th.l scope="col" { (page.text(&headings::CHECKED)) }
                th scope="col" { (page.text(&headings::EXPECTED)) }
                th scope="col" { (page.text(&headings::FOUND)) }
                th.l scope="col" { (page.text(&headings::AUDIT_VERDICT)) }
            } }
            tbody { @for check in &checks { tr {
                th scope="row" { (page.model.line_of(check.treatment).label) }
                td { (page.model.treatments[check.treatment].clients) }
                td.l { (check.checked) }
                td.n { (check.expected) }
                td.n class=[cells::alarm_if(check.verdict == AuditVerdict::Violated)] { (check.found) }
                td.l { (cells::audit_chip(page, check.verdict)) }
            } } }
        } }
    };
    let has_sums = page.model.audits.iter().any(|row| !row.column_sums.is_empty());
    let message = if has_sums { &page::PAGE_ROWS_AND_SUMS } else { &page::PAGE_ROW_COUNTS };
    let all = page.fill(message, &[("number", &checks.len().to_string())]);
    let is_right = checks.iter().all(|check| check.verdict == AuditVerdict::Intact);
    html! {
        @if is_right { details { summary { (all) } (table) } } @else { (folded(page, checks.len(), &table)) }
    }
}

/// Doubts, and the generator's view of itself.
pub(super) fn validity(page: &Page<'_>) -> Markup {
    let model = page.model;
    let measured = model.completeness.measured.to_string();
    let of_trials = |trials: usize| match trials {
        0 => page.text(&notes::WHOLE_RUN).to_owned(),
        trials => page.fill(&notes::TRIALS_OF, &[("trials", &trials.to_string()), ("measured", &measured)]),
    };
    html! {
        section #validity {
            h2 { (page.text(&headings::VALIDITY)) }
            @if model.findings.is_empty() {
                p { (page.text(&page::PAGE_NO_FINDINGS)) }
            } @else {
                ul.conclusions { @for row in &model.findings { li {
                    span { (cells::severity_chip(page, row.severity)) }
                    span {
                        (finding::sentence(&row.finding, page.lang)) " "
                        span.pm title=(treatments_of(page, &row.treatments)) { "(" (of_trials(row.trials.len())) ")" }
                    }
                } } }
                p.note { (page.text(&notes::NOTE_INVALID)) }
            }
            @if let Some(sentence) = crate::notes::steadiness(model, page.lang) { p.note { (sentence) } }
            @for failed in &model.completeness.failed {
                p.note { (failed_trial(page, failed)) }
            }
            @if !model.completeness.cut.is_empty() {
                p.note { (page.fill(&notes::NOTE_CUT, &[("trials", &list(page.lang, &model.completeness.cut))])) }
            }
            @if !model.completeness.missing.is_empty() {
                p.note {
                    (page.fill(&notes::NOTE_MISSING, &[("trials", &list(page.lang, &model.completeness.missing))]))
                }
            }
            (generator(page))
            (super::resources::table(page))
        }
    }
}

fn failed_trial(page: &Page<'_>, failed: &dyno_analysis::model::FailedTrial) -> String {
    let row = &page.model.treatments[failed.treatment];
    page.fill(
        &notes::NOTE_FAILED_TRIAL,
        &[
            ("trial", &failed.trial),
            ("line", &page.model.lines[row.line].label),
            ("clients", &conclusion::clients(&[row.clients], page.lang)),
            ("reason", &failed.reason),
        ],
    )
}

fn treatments_of(page: &Page<'_>, treatments: &[usize]) -> String {
    treatments.iter().map(|treatment| cells::treatment_name(page, *treatment)).collect::<Vec<_>>().join("; ")
}

fn generator(page: &Page<'_>) -> Markup {
    let rows = &page.model.generator;
    if rows.is_empty() {
        return html! {};
    }
    let columns = [
        Column::Figure(&headings::WORKERS),
        Column::Figure(&headings::WORKER_CPU),
        Column::Figure(&headings::HELD_UP),
        Column::Figure(&headings::CPU_USER),
        Column::Figure(&headings::CPU_SYSTEM),
        Column::Figure(&headings::WAKEUP_LAG),
        Column::Figure(&headings::MEMORY),
        Column::Figure(&headings::LAG),
    ];
    let has_open_loop = page.model.has_open_loop();
    let columns = &columns[..columns.len() - usize::from(!has_open_loop)];
    let all = page.fill(&page::PAGE_ALL_ROWS, &[("number", &rows.len().to_string())]);
    let rows: Vec<Row> = rows
        .iter()
        .map(|row| {
            let cells = html! {
                td { (row.workers) }
                td { (figures::digits(row.worker_cpu_percent_max)) }
                td { (cells::optional(page, row.held_up_percent_max)) }
                td { (figures::digits(row.cpu_user_per_statement_us)) }
                td { (figures::digits(row.cpu_system_per_statement_us)) }
                td { (cells::optional(page, row.wakeup_lag_p99_ms)) }
                td { (figures::digits(row.memory_peak_bytes as f64 / 1e6)) }
                @if has_open_loop { td { (cells::optional(page, row.lag_p99_ms)) } }
            };
            Row { treatment: row.treatment, cells }
        })
        .collect();
    html! {
        h3 { (page.text(&headings::GENERATOR)) }
        details {
            summary { (all) }
            (grouped::table(page, columns, &rows))
            p.note { (page.text(&notes::NOTE_GENERATOR)) }
        }
    }
}
