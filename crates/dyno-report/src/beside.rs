//! The table of workloads that ran beside those of treatments.

use crate::cell::Cell;
use crate::figures;
use crate::measures::NAMED;
use crate::messages::headings;
use crate::table::{Column, Table};
use crate::tables::{by_line, columns, named, of_treatments};
use crate::words;
use dyno_analysis::model::ReportModel;
use dyno_model::audit::AuditVerdict;

/// What ran beside the workloads of treatments.
pub(crate) fn table(model: &ReportModel) -> Table {
    let of = |(index, _)| model.beside.iter().filter(move |row| row.figures.treatment == index);
    let rows = by_line(model).into_iter().flat_map(of);
    let before = [&headings::BESIDE_NAME, &headings::KIND, &headings::BESIDE_CLIENTS].map(Column::left);
    let columns = before.into_iter().chain(columns(NAMED)).chain([Column::left(&headings::AUDIT_VERDICT)]);
    of_treatments(model, columns, rows.map(|row| (row.figures.treatment, row)), |row| {
        let rate = row.rate.map_or_else(String::new, |rate| format!(" ({})", figures::rate(rate)));
        let before = [row.figures.name.clone(), row.kind.clone(), format!("{}{rate}", row.clients)];
        let audit = Cell::word(words::audit(row.audit)).alarming(row.audit == AuditVerdict::Violated);
        before.map(Cell::text).into_iter().chain(named(model, &row.figures)).chain([audit]).collect()
    })
}
