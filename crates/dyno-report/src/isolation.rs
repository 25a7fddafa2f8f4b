//! What histories show of isolation: a table, and a sentence for each case.

use crate::cell::Cell;
use crate::messages::{Lang, headings, names, notes};
use crate::table::{Column, Table};
use crate::tables::{by_line, of_treatments};
use crate::{figures, words};
use dyno_analysis::model::{AnomalyExample, FoundAnomaly, ReportModel};
use dyno_model::history::anomalies::{Anomaly, Involved};
use dyno_model::isolation::IsolationLevel;

/// What transactions did to one another; what the level in force forbids alarms.
pub(crate) fn table(model: &ReportModel) -> Table {
    let rows = by_line(model).into_iter().filter_map(|(index, _)| {
        let audit = model.audits.iter().find(|audit| audit.treatment == index)?;
        Some((index, audit.anomalies.as_ref()?))
    });
    let before = [Column::left(&headings::ISOLATION_LEVEL), Column::right(&headings::COMMITTED)];
    let kinds = Anomaly::ALL.map(|anomaly| Column::right(names::anomaly(anomaly)));
    let after = [Column::left(&headings::AUDIT_VERDICT)];
    of_treatments(model, before.into_iter().chain(kinds).chain(after), rows, |audit| {
        let mut cells =
            vec![Cell::figure(audit.level.map(IsolationLevel::sql)), Cell::count(audit.committed)];
        cells.extend(Anomaly::ALL.map(|anomaly| match audit.found.iter().find(|it| it.anomaly == anomaly) {
            Some(it) => Cell::count(it.count).alarming(it.is_forbidden && it.count > 0),
            None => Cell::figure(None),
        }));
        cells.push(Cell::word(words::audit(audit.verdict)));
        cells
    })
}

/// Of each treatment's anomalies the first of each kind; then how many transactions are in no history.
pub(crate) fn sentences(model: &ReportModel, lang: Lang) -> Vec<String> {
    let audits = model.audits.iter().filter_map(|audit| audit.anomalies.as_ref());
    let cases = audits.flat_map(|audit| audit.found.iter());
    let example = |found: &FoundAnomaly| {
        let AnomalyExample { trial, transactions } = found.example.as_ref()?;
        let involved = |it: &Involved| {
            let (client, number) = (it.client.to_string(), it.sequence.to_string());
            let values = [("client", client.as_str()), ("number", &number), ("operations", &it.operations)];
            notes::NOTE_INVOLVED.fill(lang, &values)
        };
        let transactions: Vec<String> = transactions.iter().map(involved).collect();
        let values = [
            ("trial", trial.as_str()),
            ("anomaly", names::anomaly(found.anomaly).text(lang)),
            ("transactions", &transactions.join(lang.semicolon)),
        ];
        Some(notes::NOTE_ANOMALY.fill(lang, &values))
    };
    cases.filter_map(example).chain(outside(model, lang)).collect()
}

/// How many transactions are in no history, of each treatment of which any are.
pub(crate) fn outside(model: &ReportModel, lang: Lang) -> impl Iterator<Item = String> {
    let audits = model.audits.iter().filter_map(|audit| Some((audit.treatment, audit.anomalies.as_ref()?)));
    audits.filter(|(_, audit)| audit.outside > 0).map(move |(treatment, audit)| {
        let (outside, all) = (figures::count(audit.outside), figures::count(audit.outside + audit.committed));
        let treatment = names::treatment(model, treatment, lang);
        notes::NOTE_HISTORY_FULL
            .fill(lang, &[("treatment", &treatment), ("outside", &outside), ("committed", &all)])
    })
}
