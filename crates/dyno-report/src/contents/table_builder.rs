//! A builder for tables, column by column, which keeps a column's title next to the definition of
//! its cells.

use crate::cell::{Cell, Value};
use crate::figures;
use crate::messages::{Message, headings};
use crate::metrics;
use crate::table::{Column, Form, Table};
use crate::words;
use dyno_analysis::model::{Effect, Estimate, Figures, Metric, ReportModel};

/// The rows' data, and the table with the columns added so far.
pub(crate) struct TableBuilder<R> {
    rows: Vec<R>,
    table: Table,
}

impl<R> TableBuilder<R> {
    /// Rows without group names.
    pub(crate) fn of(rows: impl IntoIterator<Item = R>) -> Self {
        Self::grouped(rows, |_| [])
    }

    /// Rows grouped under names.
    pub(crate) fn grouped<const N: usize>(
        rows: impl IntoIterator<Item = R>,
        names: impl Fn(&R) -> [String; N],
    ) -> Self {
        let (rows, mut table): (Vec<R>, _) = (rows.into_iter().collect(), Table::new([]));
        for row in &rows {
            table.group(&names(row));
            table.row([]);
        }
        Self { rows, table }
    }

    /// Rows grouped by the two sides of a comparison.
    pub(crate) fn of_pairs(
        rows: impl IntoIterator<Item = R>,
        names: impl Fn(&R) -> [String; 2],
    ) -> Self {
        let mut builder = Self::grouped(rows, names);
        builder.table.names = &[&headings::SUBJECT, &headings::BASELINE];
        builder
    }

    /// Rows of configurations, by index, grouped under the names of their series.
    pub(crate) fn of_configurations(
        model: &ReportModel,
        rows: impl IntoIterator<Item = (usize, R)>,
    ) -> Self {
        let configuration = |index: usize| Value::Configuration {
            index,
            clients: model.configurations[index].clients,
        };
        let builder =
            TableBuilder::grouped(rows, |(index, _)| [model.series_of(*index).label.clone()])
                .right(&headings::CLIENTS, |(index, _)| configuration(*index).into());
        Self { rows: builder.rows.into_iter().map(|(_, row)| row).collect(), table: builder.table }
    }

    fn column(mut self, column: Column, cell: impl Fn(&R) -> Cell) -> Self {
        self.table.columns.push(column);
        let cells = self.table.groups.iter_mut().flat_map(|group| &mut group.rows);
        for (row, cells) in self.rows.iter().zip(cells) {
            cells.push(cell(row));
        }
        self
    }

    /// Adds a left-aligned column of words.
    pub(crate) fn left(self, heading: &'static Message, cell: impl Fn(&R) -> Cell) -> Self {
        self.column(Column::left(heading), cell)
    }

    /// Adds a right-aligned column of figures.
    pub(crate) fn right(self, heading: &'static Message, cell: impl Fn(&R) -> Cell) -> Self {
        self.column(Column::right(heading), cell)
    }

    /// Restricts the last column to one form.
    pub(crate) fn only_in(mut self, form: Form) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.form = form;
        }
        self
    }

    /// Adds a column for each measure; a dash if the row has no such figure.
    pub(crate) fn metric_columns(
        self,
        metrics: &[Metric],
        of: impl Fn(&R) -> Option<&Figures>,
    ) -> Self {
        let shown = metrics.iter().filter_map(|it| Some((*it, metrics::heading(*it)?)));
        shown.fold(self, |builder, (metric, heading)| {
            builder.right(heading, |row| {
                of(row).map_or_else(Cell::absent, |it| metrics::cell(it, metric))
            })
        })
    }

    /// Adds the measures with intervals, and with the number of trials if it differs from the given
    /// one.
    pub(crate) fn estimate_columns(
        self,
        metrics: &[Metric],
        of: impl Fn(&R) -> (&Figures, Option<u32>),
    ) -> Self {
        let shown = metrics.iter().filter_map(|it| Some((*it, metrics::heading(*it)?)));
        shown.fold(self, |builder, (metric, heading)| {
            builder.right(heading, |row| {
                let (figures, valid) = of(row);
                metrics::estimate_cell(figures, metric, valid)
            })
        })
    }

    /// Adds the half-width of an interval, which the page shows next to the figure.
    pub(crate) fn half_width(self, of: impl Fn(&R) -> Option<Estimate>) -> Self {
        let cell = |row: &R| Cell::figure(of(row).and_then(|it| figures::half_width(&it)));
        self.right(&headings::INTERVAL, cell).only_in(Form::Text)
    }

    /// Adds the size of an effect and its interval.
    pub(crate) fn effect(self, of: impl Fn(&R) -> &Effect) -> Self {
        self.right(&headings::RATIO, |row| Cell::ratio(of(row).ratio, of(row).bound))
            .right(&headings::RATIO_INTERVAL, |row| {
                Cell::span(of(row).ratio_interval.map(figures::ends), " .. ")
            })
            .right(&headings::P_CORRECTED, |row| {
                Cell::figure(of(row).p_corrected.map(figures::p_value))
            })
    }

    /// Adds the smallest detectable effect.
    pub(crate) fn detectable(self, of: impl Fn(&R) -> &Effect) -> Self {
        let cell = |row: &R| Cell::figure(of(row).detectable_ratio.map(figures::detectable));
        self.right(&headings::DETECTABLE, cell)
    }

    /// Adds the verdict on an effect.
    pub(crate) fn verdict(self, of: impl Fn(&R) -> &Effect) -> Self {
        self.left(&headings::VERDICT, |row| {
            let effect = of(row);
            effect.verdict.map_or_else(Cell::absent, |_| Cell::word(words::effect(effect)))
        })
    }

    pub(crate) fn table(self) -> Table {
        self.table
    }
}
