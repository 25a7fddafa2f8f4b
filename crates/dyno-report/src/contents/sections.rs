//! Parts of a report that consist of a heading, a table and a note.

use crate::messages::{Lang, Message, headings, notes as texts};
use crate::table::Table;
use crate::{isolation, notes, tables};
use dyno_analysis::model::ReportModel;

/// A table with its heading and note.
pub(crate) struct Section {
    /// Anchor in the page.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static Message,
    pub(crate) table: Table,
    pub(crate) note: String,
}

type SectionFields<'a> = (&'static str, &'static Message, Table, &'a str);

/// Sections that have rows.
fn with_rows<'a>(sections: impl IntoIterator<Item = SectionFields<'a>>) -> Vec<Section> {
    let shown = sections.into_iter().filter(|(_, _, table, _)| !table.is_empty());
    shown
        .map(|(id, heading, table, note)| Section { id, heading, table, note: note.to_owned() })
        .collect()
}

/// Sections that only some loads have: searches, benchmarks, stages, transaction names, background
/// workloads.
pub(crate) fn loads(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [searches, benchmarks, stages, transactions, background] = [
        texts::NOTE_SEARCH,
        texts::NOTE_BENCHMARK,
        texts::NOTE_STAGES,
        texts::NOTE_TRANSACTIONS,
        texts::NOTE_BACKGROUND,
    ]
    .map(|note| note.text(lang));
    with_rows([
        ("searches", &headings::SEARCHES, tables::searches(model), searches),
        ("benchmark", &headings::BENCHMARK, tables::benchmarks(model, lang), benchmarks),
        ("stages", &headings::STAGES, tables::stages(model), stages),
        ("transactions", &headings::TRANSACTIONS, tables::transactions(model), transactions),
        ("background", &headings::BACKGROUND, tables::background(model), background),
    ])
}

/// Effects of injected faults.
pub(crate) fn faults(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [faults, errors] =
        [texts::NOTE_FAULTS, texts::NOTE_FAULT_ERRORS].map(|note| note.text(lang));
    with_rows([
        ("faults", &headings::FAULTS, tables::faults(model, lang), faults),
        ("fault-errors", &headings::FAULT_ERRORS, tables::fault_errors(model), errors),
    ])
}

/// Error messages of databases and HTTP services.
pub(crate) fn errors(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let note =
        if notes::has_only_http(model) { texts::NOTE_ERRORS_HTTP } else { texts::NOTE_ERRORS };
    with_rows([(
        "errors",
        notes::errors_heading(model),
        tables::errors(model, lang),
        note.text(lang),
    )])
}

/// Whether acknowledged work was kept, and whether transactions were isolated.
pub(crate) fn losses_and_anomalies(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [ledger, anomalies] =
        [texts::NOTE_LEDGER, texts::NOTE_ANOMALIES].map(|note| note.text(lang));
    with_rows([
        ("ledger", &headings::LEDGER, tables::ledgers(model), ledger),
        ("anomalies", &headings::ANOMALIES, isolation::table(model), anomalies),
    ])
}

/// The load generator, or each of several, and the resource usage of machine and server.
pub(crate) fn machines(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [one, each, resources] =
        [texts::NOTE_GENERATOR, texts::NOTE_GENERATORS, texts::NOTE_RESOURCES]
            .map(|note| note.text(lang));
    with_rows([
        ("generator", &headings::GENERATOR, tables::generator(model), one),
        ("generators", &headings::GENERATORS, tables::generators(model), each),
        ("resources", &headings::RESOURCES, tables::resources(model), resources),
    ])
}

/// Whether limits passed.
pub(crate) fn limits(model: &ReportModel, lang: Lang) -> Vec<Section> {
    with_rows([(
        "limits",
        &headings::LIMITS,
        tables::limits(model),
        notes::limit_rules(model, lang).as_str(),
    )])
}

/// The questions of the experiment, and the variance components of their answers.
pub(crate) fn questions(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let (rules, scatter) = (notes::question_rules(model, lang), notes::scatter(model, lang));
    with_rows([
        ("questions", &headings::QUESTIONS, tables::questions(model, lang), rules.as_str()),
        ("scatter", &headings::SCATTER, tables::scatter(model, lang), &scatter),
    ])
}
