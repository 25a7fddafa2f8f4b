//! The tables over rows of the text and Markdown reports. Nothing is computed here.

use super::figures::{self, digits};
use super::table::{Align, Table};
use super::tables::verdict;
use crate::messages::{Lang, Message, growth as texts, headings};
use Align::{Left, Right};
use dyno_analysis::model::{Comparison, Estimate, Growth, GrowthStep, ReportModel};

fn columns(lang: Lang, columns: &[(Message, Align)]) -> Table {
    Table::new(&columns.iter().map(|(title, align)| (title.text(lang), *align)).collect::<Vec<_>>())
}

/// A group per treatment, a row per step.
pub(super) fn steps(model: &ReportModel, lang: Lang) -> Table {
    let mut table = columns(
        lang,
        &[
            (texts::GROWTH_ROWS, Right),
            (headings::TRIALS_VALID, Right),
            (texts::GROWTH_RATE, Right),
            (headings::INTERVAL, Right),
            (texts::GROWTH_CPU, Right),
            (texts::GROWTH_SERVER, Right),
            (texts::GROWTH_READ, Right),
            (texts::GROWTH_WRITTEN, Right),
            (texts::GROWTH_BUSY, Right),
            (texts::GROWTH_DATA, Right),
        ],
    );
    let Some(growth) = &model.growth else { return table };
    for line in &growth.lines {
        table.group(&texts::name(model, line.treatment, lang));
        for (step, rows) in line.steps.iter().zip(&growth.milestones) {
            let mut row = vec![figures::count(*rows)];
            row.extend(
                cells(step).map(|cell| cell.unwrap_or_else(|| headings::ABSENT.text(lang).to_owned())),
            );
            table.row(row);
        }
    }
    table
}

/// The figures of a step in the order of the columns after the rows.
pub(super) fn cells(step: &GrowthStep) -> [Option<String>; 9] {
    let mean =
        |estimate: Option<Estimate>| estimate.map(|estimate| figures::value(estimate.unit, estimate.mean));
    [
        step.rows_per_second.map(|estimate| estimate.repeats.to_string()),
        step.rows_per_second.map(|estimate| digits(estimate.mean)),
        step.rows_per_second.as_ref().and_then(figures::half_width),
        mean(step.cpu_percent),
        mean(step.server_percent),
        mean(step.disk_read),
        mean(step.disk_written),
        mean(step.disk_busy_percent),
        mean(step.data_bytes),
    ]
}

/// A group per pair, a row per step.
pub(super) fn comparisons(model: &ReportModel, lang: Lang) -> Table {
    let mut table = columns(
        lang,
        &[
            (texts::GROWTH_ROWS, Right),
            (headings::TRIALS_VALID, Right),
            (headings::RATIO, Right),
            (headings::RATIO_INTERVAL, Right),
            (headings::P_CORRECTED, Right),
            (headings::VERDICT, Left),
        ],
    );
    let Some(growth) = &model.growth else { return table };
    let absent = || headings::ABSENT.text(lang).to_owned();
    let mut pair = None;
    for (rows, comparison) in by_rows(growth) {
        if pair != Some((comparison.subject, comparison.baseline)) {
            pair = Some((comparison.subject, comparison.baseline));
            let (subject, baseline) = (comparison.subject, comparison.baseline);
            table.group(&format!(
                "{} {} {}",
                texts::name(model, subject, lang),
                headings::BASELINE.text(lang),
                texts::name(model, baseline, lang)
            ));
        }
        let interval = comparison.ratio_interval;
        let interval =
            interval.map(|range| format!("{} .. {}", figures::ratio(range.low), figures::ratio(range.high)));
        table.row(vec![
            figures::count(rows),
            comparison.repeats.to_string(),
            comparison.ratio.map_or_else(absent, figures::ratio),
            interval.unwrap_or_else(absent),
            comparison.p_corrected.map_or_else(absent, figures::p_value),
            verdict(comparison.verdict, lang).to_owned(),
        ]);
    }
    table
}

/// Comparisons with the rows at the end of their step.
pub(super) fn by_rows(growth: &Growth) -> impl Iterator<Item = (u64, &Comparison)> {
    growth.comparisons.iter().map(|step| (growth.milestones[step.step], &step.comparison))
}
