//! The tables of the main part: throughput with lost work, results, comparisons, audit, warnings.

use super::page::Page;
use crate::figures;
use crate::grid::{is_wide, titles_of_cells, unbroken};
use crate::messages::{fill, growth, headings, names, notes, page, reason, warning};
use crate::notes::{Loops, comparison_rules};
use crate::sections::Section;
use crate::table::Table;
use crate::{tables, words};
use dyno_analysis::model::{ConfigurationRow, Metric, TrialRow, TrialState};
use dyno_model::audit::AuditVerdict;
use maud::{Markup, html};
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// Maximum number of client columns in the matrix of throughput and losses.
const MATRIX_COLUMNS: usize = 8;
/// Maximum number of rows of an expanded table.
const ROWS_SHOWN: usize = 24;
/// From this number of rows on, the table is printed only if the reader has expanded it.
const ROWS_PRINTED: usize = 41;

/// A table with a note below it, collapsed if it has many rows.
fn folded_if_long(page: &Page<'_>, table: Table, note: Option<String>) -> Markup {
    if table.rows() > ROWS_SHOWN {
        return page.all_rows(table, note);
    }
    html! { (page.table(table)) @if let Some(note) = note { p.note { (note) } } }
}

/// All configurations; also printed if they take at most half a page and no matrix shows their
/// throughput.
fn results_table(page: &Page<'_>, is_alone: bool) -> Markup {
    let table = tables::results(page.model);
    let bounds = page.model.has_bounds().then(|| page.text(&notes::NOTE_BOUNDS));
    let notes =
        [page.text(crate::notes::estimates(page.model)), page.text(Loops::of(page.model).note())];
    let note =
        notes.into_iter().map(str::to_owned).chain(crate::notes::too_few(page.model, page.lang));
    let note = note.chain(bounds.map(str::to_owned)).collect::<Vec<_>>().join(page.lang.space);
    let shown = match table.rows() {
        rows if rows >= ROWS_PRINTED || rows > ROWS_SHOWN && !is_alone => {
            return page.all_rows(table, Some(note));
        }
        rows if rows > ROWS_SHOWN => page.printed_rows(table),
        _ => page.table(table),
    };
    html! { (shown) p.note { (note) } }
}

/// The matrix, and the table of all configurations.
pub(super) fn results(page: &Page<'_>) -> Markup {
    html! {
        section #results {
            h2 { (page.text(&headings::RESULTS)) }
            @if page.model.growth.is_some() {
                h3 { (page.text(&growth::GROWTH)) }
                (page.table(tables::steps(page.model, page.lang)))
                p.note { (page.text(&growth::GROWTH_NOTE)) }
            }
            @let matrix = losses_matrix(page);
            (matrix)
            (results_table(page, matrix.0.is_empty()))
        }
    }
}

/// A matrix of series by clients for runs with losses; each cell shows the throughput and, in the
/// same font size, the lost part of it.
fn losses_matrix(page: &Page<'_>) -> Markup {
    let rows = &page.model.configurations;
    let levels: BTreeSet<u32> = rows.iter().map(|row| row.clients).collect();
    let loses = |series: usize| {
        rows.iter()
            .any(|row| row.series == series && row.figures.value(Metric::LostPercent) > Some(0.0))
    };
    let facets =
        || page.facets.all.iter().filter(|facet| facet.members.iter().any(|it| loses(it.series)));
    // With one number of clients, the table of results has the same figures.
    if !(2..=MATRIX_COLUMNS).contains(&levels.len()) || facets().next().is_none() {
        return html! {};
    }
    let row_at = |series: usize, clients: u32| {
        rows.iter().find(|row| row.series == series && row.clients == clients)
    };
    let heads: Vec<String> =
        levels.iter().map(|clients| names::clients(&[*clients], page.lang)).collect();
    let system = page.text(&headings::SYSTEM);
    let is_wide = is_wide(heads.iter().map(|head| head.width()).chain([system.width()]));
    let titles = is_wide
        .then(|| titles_of_cells([system].into_iter().chain(heads.iter().map(String::as_str))));
    html! {
        h3 { (page.text(&page::PAGE_KEPT)) }
        div.wide { table class={ "kept" @if is_wide { " stacked" } } style=[titles] {
            thead { tr {
                th.l scope="col" { (system) }
                @for head in &heads { th.n scope="col" { (head) } }
            } }
            @for facet in facets() { tbody {
                @if !facet.title.is_empty() {
                    tr { th.group scope="rowgroup" colspan=(levels.len() + 1) { span { (unbroken(&facet.title)) } } }
                }
                @for member in &facet.members { tr {
                    th scope="row" { (unbroken(&member.label)) }
                    @for clients in &levels { td { (losses_cell(page, row_at(member.series, *clients))) } }
                } }
            } }
        } }
        p.note { (page.text(&page::PAGE_KEPT_NOTE)) }
    }
}

fn losses_cell(page: &Page<'_>, row: Option<&ConfigurationRow>) -> Markup {
    let Some(row) = row else { return html! {} };
    html! {
        @match row.figures.get(Metric::Throughput) {
            Some(rate) => (figures::value(Metric::Throughput.unit(), rate.value())),
            None => (page.text(&headings::ABSENT)),
        }
        " " br;
        @match row.figures.value(Metric::LostPercent) {
            None => small { (page.text(&headings::NOT_CHECKED)) },
            Some(0.0) => small { (page.text(&page::PAGE_KEPT_NOTHING_LOST)) },
            Some(percent) => span.alarm {
                (fill!(page::PAGE_KEPT_LOST, page.lang, percent = figures::percent(percent)))
            },
        }
    }
}

/// A section of the page: the first part with its heading, the others below it.
pub(super) fn section(page: &Page<'_>, parts: Vec<Section>) -> Markup {
    let Some(id) = parts.first().map(|first| first.id) else { return html! {} };
    html! {
        section id=(id) {
            @for part in parts {
                @if part.id == id {
                    h2 { (page.text(part.heading)) }
                } @else {
                    h3 id=(part.id) { (page.text(part.heading)) }
                }
                (page.table(part.table))
                p.note { (part.note) }
            }
        }
    }
}

/// Forest plots and the tables of comparisons.
pub(super) fn comparisons(page: &Page<'_>) -> Markup {
    let steps = tables::step_comparisons(page.model, page.lang);
    let family = steps.rows();
    let rules =
        [comparison_rules(page.model, page.lang).as_str(), page.text(&notes::NOTE_DETECTABLE)]
            .join(page.lang.space);
    html! {
        @if has_comparisons(page) { section #comparisons {
            h2 { (page.text(&headings::COMPARISONS)) }
                @let charts = super::forests::charts(page);
                // Questions have a separate forest plot at the top.
                @if charts.len() > 2 || !page.model.questions.is_empty() {
                    (page.folded_charts(&charts))
                } @else { @for chart in charts { (chart.markup(page)) } }
                @let table = tables::comparisons(page.model, page.lang);
                @if table.is_empty() {
                    p { (page.text(&page::PAGE_NO_RATIOS)) }
                } @else {
                    (folded_if_long(page, table, Some(rules)))
                }
                @if !steps.is_empty() {
                    h3 { (page.text(&growth::GROWTH_COMPARISONS)) }
                    (page.all_rows(steps, Some(fill!(growth::GROWTH_COMPARISONS_NOTE, page.lang, family))))
                }
        } }
    }
}

/// Returns true when there are comparisons.
pub(super) fn has_comparisons(page: &Page<'_>) -> bool {
    !page.model.comparisons.is_empty()
}

/// Results of the audits.
pub(super) fn audit(page: &Page<'_>) -> Markup {
    let audits = &page.model.audits;
    let table = tables::audits(page.model);
    let has_updates = audits.iter().any(|row| row.updates.is_some());
    html! {
        @if !audits.is_empty() { section #audit {
            h2 { (page.text(&headings::AUDIT)) }
            @if has_updates {
                @let witnesses = crate::notes::witnesses(page.model, page.lang);
                @let losses = tables::losses(page.model);
                // Collapsed rows are not printed; if a matrix has the shares, it is printed
                // instead.
                @if table.rows() > ROWS_SHOWN && (1..=ROWS_SHOWN).contains(&losses.rows()) && losses_matrix(page).0.is_empty() {
                    h3 { (page.text(&page::PAGE_AUDIT_LOST)) }
                    (page.table(losses))
                }
                (folded_if_long(page, table, Some(page.text(&notes::NOTE_AUDIT).to_owned())))
                (examples(page, &witnesses))
            }
            @let ledgers = tables::ledgers(page.model);
            @if !ledgers.is_empty() {
                h3 { (page.text(&headings::LEDGER)) }
                (page.table(ledgers))
                p.note { (page.text(&notes::NOTE_LEDGER)) }
                @for sentence in crate::notes::missing_commits(page.model, page.lang) { p.note { (sentence) } }
            }
            @let anomalies = crate::isolation::table(page.model);
            @if !anomalies.is_empty() {
                h3 { (page.text(&headings::ANOMALIES)) }
                (page.table(anomalies))
                p.note { (page.text(&notes::NOTE_ANOMALIES)) }
                (examples(page, &crate::isolation::sentences(page.model, page.lang)))
            }
            (row_and_sum_checks(page))
            @for row in audits { @for reason in &row.not_run {
                p.note { (names::labelled(&names::configuration(page.model, row.configuration, page.lang), &reason::reason(reason, page.lang), page.lang)) }
            } }
        } }
    }
}

/// Examples as sentences; the first one is representative, the others are collapsed.
fn examples(page: &Page<'_>, sentences: &[String]) -> Markup {
    let Some((first, others)) = sentences.split_first() else { return html! {} };
    html! {
        p.note { (first) }
        @if !others.is_empty() {
            details {
                summary { (fill!(page::PAGE_MORE_CONCLUSIONS, page.lang, number = others.len())) }
                @for sentence in others { p.note { (sentence) } }
            }
        }
    }
}

/// Row counts and column sums that were checked; correct ones are only counted.
fn row_and_sum_checks(page: &Page<'_>) -> Markup {
    let table = tables::contents(page.model);
    let audits = || page.model.audits.iter();
    let verdicts = audits().flat_map(|row| row.row_counts.iter().map(|check| check.verdict));
    let mut verdicts =
        verdicts.chain(audits().flat_map(|row| row.values.iter().map(|check| check.verdict)));
    let has_sums = audits().any(|row| !row.values.is_empty());
    let message = if has_sums { &page::PAGE_ROWS_AND_SUMS } else { &page::PAGE_ROW_COUNTS };
    let all = fill!(message, page.lang, number = table.rows());
    let is_right = verdicts.all(|verdict| verdict == AuditVerdict::Intact);
    html! {
        @if table.is_empty() {
        } @else if is_right {
            details { summary { (all) } (page.table(table)) }
        } @else {
            (folded_if_long(page, table, Some(page.text(&notes::NOTE_CONTENTS).to_owned())))
        }
    }
}

/// Warnings, and the load generator's measures of itself.
pub(super) fn validity(page: &Page<'_>) -> Markup {
    let model = page.model;
    let is_doubted =
        |trial: &&TrialRow| matches!(trial.state, TrialState::Warned | TrialState::Invalid);
    let doubted = model.trials.iter().filter(is_doubted).count();
    html! {
        section #validity {
            h2 { (page.text(&headings::VALIDITY)) }
            (super::summary::trust(page))
            @if model.warnings.is_empty() {
                p { (page.text(&page::PAGE_NO_WARNINGS)) }
            } @else {
                p { (fill!(page::PAGE_WARNINGS_TRIALS, page.lang, doubted, measured = model.completeness.with_results, kinds = model.warnings.len())) }
                ul.conclusions { @for row in &model.warnings { li {
                    span { (page.chip(words::severity(row.severity))) }
                    @let reach = crate::notes::reach(model, row, page.lang);
                    span { (unbroken(&warning::sentence(&row.warning, page.lang))) (page.lang.space) span.pm title=(configurations_of(page, &row.configurations)) { (fill!(page::PAGE_REACH, page.lang, reach)) } }
                } } }
                @if model.completeness.valid < model.completeness.with_results { p.note { (page.text(&notes::NOTE_INVALID)) } }
            }
            @if let Some(sentence) = crate::notes::steadiness(model, page.lang) { p.note { (sentence) } }
            @for sentence in crate::notes::incompleteness(model, usize::MAX, page.lang) { p.note { (sentence) } }
            @for section in crate::sections::machines(page.model, page.lang) {
                h3 { (page.text(section.heading)) }
                (page.all_rows(section.table, Some(section.note)))
            }
        }
    }
}

fn configurations_of(page: &Page<'_>, configurations: &[usize]) -> String {
    configurations
        .iter()
        .map(|configuration| names::configuration(page.model, *configuration, page.lang))
        .collect::<Vec<_>>()
        .join(page.lang.semicolon)
}
