//! Results of the isolation checks: a table of anomalies, and a sentence for each case.

use crate::cell::Cell;
use crate::messages::{Lang, columns, fill, headings, names, notes};
use crate::table::Table;
use crate::table_builder::TableBuilder;
use crate::tables::by_series;
use crate::{figures, words};
use dyno_analysis::model::{AnomalyExample, FoundAnomaly, ReportModel};
use dyno_model::history::anomalies::{Anomaly, Involved};
use dyno_model::isolation::IsolationLevel;

/// Anomalies between transactions; those that the isolation level in force forbids are alarming.
pub(crate) fn table(model: &ReportModel) -> Table {
    let audits = by_series(model, &model.audits, |audit| audit.configuration).into_iter();
    let rows = audits.filter_map(|(index, audit)| Some((index, audit.anomalies.as_ref()?)));
    let builder = TableBuilder::of_configurations(model, rows)
        .left(&headings::ISOLATION_LEVEL, |audit| {
            Cell::figure(audit.level.map(IsolationLevel::sql))
        })
        .right(&columns::COMMITTED, |audit| Cell::count(audit.committed));
    let builder = Anomaly::ALL.into_iter().fold(builder, |builder, anomaly| {
        builder.right(names::anomaly(anomaly), |audit| {
            let found = audit.found.iter().find(|it| it.anomaly == anomaly);
            found.map_or_else(Cell::absent, |it| {
                Cell::count(it.count).alarming(it.is_forbidden && it.count > 0)
            })
        })
    });
    builder.left(&headings::AUDIT_VERDICT, |audit| Cell::word(words::audit(audit.verdict))).table()
}

/// The first anomaly of each kind per configuration, then the number of transactions that are in no
/// history.
pub(crate) fn sentences(model: &ReportModel, lang: Lang) -> Vec<String> {
    let audits = model.audits.iter().filter_map(|audit| audit.anomalies.as_ref());
    let cases = audits.flat_map(|audit| audit.found.iter());
    let example = |found: &FoundAnomaly| {
        let AnomalyExample { trial, transactions } = found.example.as_ref()?;
        let involved = |it: &Involved| {
            let (client, number) = (it.client, it.sequence);
            fill!(notes::NOTE_INVOLVED, lang, client, number, operations = it.operations)
        };
        let transactions =
            transactions.iter().map(involved).collect::<Vec<_>>().join(lang.semicolon);
        let anomaly = names::anomaly(found.anomaly).text(lang);
        Some(fill!(notes::NOTE_ANOMALY, lang, trial, anomaly, transactions))
    };
    cases.filter_map(example).chain(outside(model, lang)).collect()
}

/// Number of transactions that are in no history, for each configuration that has any.
pub(crate) fn outside(model: &ReportModel, lang: Lang) -> impl Iterator<Item = String> {
    let audits = model
        .audits
        .iter()
        .filter_map(|audit| Some((audit.configuration, audit.anomalies.as_ref()?)));
    audits.filter(|(_, audit)| audit.outside > 0).map(move |(configuration, audit)| {
        let (outside, all) =
            (figures::count(audit.outside), figures::count(audit.outside + audit.committed));
        let configuration = names::configuration(model, configuration, lang);
        fill!(notes::NOTE_HISTORY_FULL, lang, configuration, outside, committed = all)
    })
}
