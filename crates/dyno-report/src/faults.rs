//! The tables of faults that were made on purpose.

use crate::cell::Cell;
use crate::measures::{FAULT, FAULT_ERRORS};
use crate::messages::{Lang, headings, names};
use crate::table::{Column, Table};
use crate::tables::{by_line, cells, columns, of_treatments};
use dyno_analysis::model::ReportModel;

/// What faults did that were made on purpose.
pub(crate) fn table(model: &ReportModel, lang: Lang) -> Table {
    let of = |index| model.faults.iter().find(move |row| row.treatment == index).map(|row| (index, row));
    let rows = by_line(model).into_iter().filter_map(|(index, _)| of(index));
    let before = [Column::left(&headings::FAULT), Column::right(&headings::TRIALS_VALID)];
    of_treatments(model, before.into_iter().chain(columns(FAULT)), rows, |row| {
        let before = [Cell::text(names::faults(row, lang)), Cell::count(row.trials.len() as u64)];
        before.into_iter().chain(cells(FAULT, Some(row))).collect()
    })
}

/// Which errors clients met from the first fault on, by kind, in the order in which they came.
pub(crate) fn errors(model: &ReportModel) -> Table {
    let rows = by_line(model).into_iter().flat_map(|(index, _)| {
        let rows = model.faults.iter().filter(move |row| row.treatment == index);
        rows.flat_map(move |row| row.errors.iter().map(move |errors| (index, errors)))
    });
    let columns = [Column::left(&headings::KIND)].into_iter().chain(columns(FAULT_ERRORS));
    of_treatments(model, columns, rows, |errors| {
        [Cell::text(errors.kind.name())].into_iter().chain(cells(FAULT_ERRORS, Some(errors))).collect()
    })
}
