//! Words and sentences about tables that grow.

use super::message::{Lang, messages};
use super::names;
use crate::figures;
use dyno_analysis::model::{GrowthLead, GrowthMoment, ReportModel};

messages! {
    /// Section and title of the chart.
    GROWTH [] "Over the number of rows";
    /// Heading: comparisons step by step.
    GROWTH_COMPARISONS [] "Comparisons step by step";
    /// Column: rows at the end of a step.
    GROWTH_ROWS [] "rows";
    /// Column and axis.
    GROWTH_RATE [] "rows/s";
    /// Column: processor time of the machine.
    GROWTH_CPU [] "CPU";
    /// Column: the server's part of it.
    GROWTH_SERVER [] "of it the server";
    /// Column.
    GROWTH_READ [] "read MB/s";
    /// Column.
    GROWTH_WRITTEN [] "written MB/s";
    /// Column.
    GROWTH_BUSY [] "disk busy";
    /// Column: data files.
    GROWTH_DATA [] "data MB";

    /// Axis.
    GROWTH_AXIS [] "rows in the table";
    /// Panel.
    GROWTH_PANEL_RATE [] "Rows inserted per second";
    /// Panel.
    GROWTH_PANEL_CPU [] "CPU of the machine, all processors";
    /// Panel.
    GROWTH_PANEL_READ [] "Disk: read, MB/s";
    /// Panel.
    GROWTH_PANEL_WRITTEN [] "Disk: written, MB/s";
    /// Panel.
    GROWTH_PANEL_BUSY [] "Disk: share of time with a request";
    /// Panel.
    GROWTH_PANEL_DATA [] "Data files, MB";
    /// What is drawn, for readers who cannot see it.
    GROWTH_DESCRIPTION [lines] "Panels one below the other on the axis of rows: rows inserted per second, then processor time, disk and data size, as far as the monitor saw them. Lines: {lines}.";
    /// Caption.
    GROWTH_CAPTION [blocks] "Marks: the mean of each step over {blocks}, in the middle of the step, with the 95 % interval where there are several blocks. Thin lines: every trial, interval by interval.";
    /// Inside that caption.
    GROWTH_BLOCK [] "one block";
    /// Inside that caption.
    GROWTH_BLOCKS [number] "{number} blocks";
    /// Under the table.
    GROWTH_NOTE [] "Each row is the step from the number of rows before it: rows per second are the rows of the step over the time in which the table grew from one to the other, means over valid trials with 95 % intervals. A trial that was cut short counts in the steps that it finished. CPU, disk and data size are the monitor's, over the same times.";
    /// Under the comparisons.
    GROWTH_COMPARISONS_NOTE [family] "Ratios of rows per second, paired by block; p-values are corrected over all {family} comparisons of this table together.";
    /// Tooltip.
    GROWTH_TIP [line, from, to, value] "{line}, {from} to {to} rows: {value}";

    /// First one is ahead, later the other.
    GROWTH_CROSSED [leader, other, from, leader_rate, other_rate, before, leader_before, other_before] "From {from} rows on {leader} holds {leader_rate} rows per second where {other} falls to {other_rate}; up to {before} rows {other} was ahead, with {other_before} against {leader_before}.";
    /// One is ahead over these sizes.
    GROWTH_AHEAD [leader, other, from, to, low, high, leader_rate, other_rate] "From {from} to {to} rows {leader} took {low} to {high} times the rows per second of {other}, in the end {leader_rate} against {other_rate}.";
    /// A treatment slowed down.
    GROWTH_FELL [line, fastest, from, to, last, last_from, last_to, share] "{line} took {fastest} rows per second from {from} to {to} rows, and {last} from {last_from} to {last_to} rows, which is {share} of it.";
    /// A treatment was fastest in the end.
    GROWTH_ROSE [line, last, last_from, last_to] "{line} was fastest in the end: {last} rows per second from {last_from} to {last_to} rows.";
    /// A treatment was nearly as fast in the end as anywhere.
    GROWTH_HELD [line, fastest, from, to, last, last_from, last_to] "{line} held its rate: {fastest} rows per second from {from} to {to} rows, and {last} from {last_from} to {last_to} rows.";
    /// Further sentence: machine in both steps.
    GROWTH_RESOURCES [cpu_before, cpu_after, disk_before, disk_after] "Meanwhile the machine's CPU went from {cpu_before} to {cpu_after} busy, its disk from {disk_before} to {disk_after}.";
}

/// From this share of its best on, a rate was held.
const HELD: f64 = 0.95;

/// A treatment as sentences name it: its line, with the clients where they differ.
pub(crate) fn name(model: &ReportModel, treatment: usize, lang: Lang) -> String {
    let row = &model.treatments[treatment];
    let label = &model.lines[row.line].label;
    let is_alone = model.treatments.iter().filter(|other| other.line == row.line).count() == 1;
    if is_alone {
        return label.clone();
    }
    format!("{label}, {}", names::clients(&[row.clients], lang))
}

pub(super) fn crossing(model: &ReportModel, before: &GrowthLead, after: &GrowthLead, lang: Lang) -> String {
    let values = [
        ("leader", name(model, after.leader, lang)),
        ("other", name(model, after.other, lang)),
        ("from", figures::count(after.rows_from)),
        ("leader_rate", figures::digits(after.leader_rate)),
        ("other_rate", figures::digits(after.other_rate)),
        ("before", figures::count(before.rows_to)),
        ("leader_before", figures::digits(before.other_rate)),
        ("other_before", figures::digits(before.leader_rate)),
    ];
    GROWTH_CROSSED.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

pub(super) fn lead(model: &ReportModel, lead: &GrowthLead, lang: Lang) -> String {
    let values = [
        ("leader", name(model, lead.leader, lang)),
        ("other", name(model, lead.other, lang)),
        ("from", figures::count(lead.rows_from)),
        ("to", figures::count(lead.rows_to)),
        ("low", figures::ratio(lead.ratio.low)),
        ("high", figures::ratio(lead.ratio.high)),
        ("leader_rate", figures::digits(lead.leader_rate)),
        ("other_rate", figures::digits(lead.other_rate)),
    ];
    GROWTH_AHEAD.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

pub(super) fn course(
    model: &ReportModel,
    treatment: usize,
    fastest: &GrowthMoment,
    last: &GrowthMoment,
    lang: Lang,
) -> String {
    let share = last.rows_per_second / fastest.rows_per_second.max(f64::MIN_POSITIVE);
    let values = [
        ("line", name(model, treatment, lang)),
        ("fastest", figures::digits(fastest.rows_per_second)),
        ("from", figures::count(fastest.rows_from)),
        ("to", figures::count(fastest.rows_to)),
        ("last", figures::digits(last.rows_per_second)),
        ("last_from", figures::count(last.rows_from)),
        ("last_to", figures::count(last.rows_to)),
        ("share", figures::percent(100.0 * share)),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    if fastest.rows_to == last.rows_to {
        let used = |(name, _): &(&str, &str)| GROWTH_ROSE.places.contains(name);
        return GROWTH_ROSE.fill(lang, &values.into_iter().filter(used).collect::<Vec<_>>());
    }
    if share >= HELD {
        let used = |(name, _): &(&str, &str)| GROWTH_HELD.places.contains(name);
        return GROWTH_HELD.fill(lang, &values.into_iter().filter(used).collect::<Vec<_>>());
    }
    let mut sentence = GROWTH_FELL.fill(lang, &values);
    let seen = |moment: &GrowthMoment| Some((moment.cpu_percent?, moment.disk_busy_percent?));
    if let (Some(before), Some(after)) = (seen(fastest), seen(last)) {
        let values = [before.0, after.0, before.1, after.1].map(figures::percent);
        let names = ["cpu_before", "cpu_after", "disk_before", "disk_after"];
        let values: Vec<_> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
        sentence.push(' ');
        sentence.push_str(&GROWTH_RESOURCES.fill(lang, &values));
    }
    sentence
}
