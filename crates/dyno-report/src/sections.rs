//! Parts of a report that are a table under a heading, with a note below it.

use crate::messages::{Lang, Message, headings, notes as texts};
use crate::table::Table;
use crate::{isolation, notes, tables};
use dyno_analysis::model::ReportModel;

/// A table with what stands around it.
pub(crate) struct Section {
    /// Its place in the page.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static Message,
    pub(crate) table: Table,
    pub(crate) note: String,
}

type Part<'a> = (&'static str, &'static Message, Table, &'a str);

/// Those that have rows.
fn told<'a>(parts: impl IntoIterator<Item = Part<'a>>) -> Vec<Section> {
    let shown = parts.into_iter().filter(|(_, _, table, _)| !table.is_empty());
    shown
        .map(|(id, heading, table, note)| Section { id, heading, table, note: note.to_owned() })
        .collect()
}

/// What only some loads have: searches, stages, names, company.
pub(crate) fn loads(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [searches, stages, transactions, background] =
        [texts::NOTE_SEARCH, texts::NOTE_STAGES, texts::NOTE_TRANSACTIONS, texts::NOTE_BACKGROUND]
            .map(|note| note.text(lang));
    told([
        ("searches", &headings::SEARCHES, tables::searches(model), searches),
        ("stages", &headings::STAGES, tables::stages(model), stages),
        ("transactions", &headings::TRANSACTIONS, tables::transactions(model), transactions),
        ("background", &headings::BACKGROUND, tables::background(model), background),
    ])
}

/// What faults did that were made on purpose.
pub(crate) fn faults(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [faults, errors] =
        [texts::NOTE_FAULTS, texts::NOTE_FAULT_ERRORS].map(|note| note.text(lang));
    told([
        ("faults", &headings::FAULTS, tables::faults(model, lang), faults),
        ("fault-errors", &headings::FAULT_ERRORS, tables::fault_errors(model), errors),
    ])
}

/// What the database said of failures.
pub(crate) fn errors(model: &ReportModel, lang: Lang) -> Vec<Section> {
    told([(
        "errors",
        &headings::ERRORS,
        tables::errors(model, lang),
        texts::NOTE_ERRORS.text(lang),
    )])
}

/// Whether what was acknowledged was kept, and kept apart.
pub(crate) fn kept(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let [ledger, anomalies] =
        [texts::NOTE_LEDGER, texts::NOTE_ANOMALIES].map(|note| note.text(lang));
    told([
        ("ledger", &headings::LEDGER, tables::ledgers(model), ledger),
        ("anomalies", &headings::ANOMALIES, isolation::table(model), anomalies),
    ])
}

/// Whether limits were kept.
pub(crate) fn limits(model: &ReportModel, lang: Lang) -> Vec<Section> {
    told([(
        "limits",
        &headings::LIMITS,
        tables::limits(model),
        notes::limit_rules(model, lang).as_str(),
    )])
}

/// The questions of the experiment, and where the scatter of their answers comes from.
pub(crate) fn questions(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let (rules, scatter) = (notes::question_rules(model, lang), notes::scatter(model, lang));
    told([
        ("questions", &headings::QUESTIONS, tables::questions(model, lang), rules.as_str()),
        ("scatter", &headings::SCATTER, tables::scatter(model, lang), &scatter),
    ])
}
