//! Words and sentences about tables that grow.

pub(crate) use super::en::growth::*;
use super::lang::Lang;
use super::names;
use crate::figures;
use dyno_analysis::model::{GrowthLead, GrowthMoment, ReportModel};

/// From this share of its best on, a rate was held.
const HELD: f64 = 0.95;

/// A treatment as sentences name it: its line, with the clients where they differ.
pub(crate) fn name(model: &ReportModel, treatment: usize, lang: Lang) -> String {
    let line = model.treatments[treatment].line;
    let is_alone = model.treatments.iter().filter(|other| other.line == line).count() == 1;
    if is_alone { model.lines[line].label.clone() } else { names::treatment(model, treatment, lang) }
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
    (fastest, slowest, last): (&GrowthMoment, Option<&GrowthMoment>, &GrowthMoment),
    lang: Lang,
) -> String {
    if fastest.rows_from == last.rows_from
        && slowest.is_none_or(|slowest| slowest.rows_from == last.rows_from)
    {
        return one(name(model, treatment, lang), last, lang);
    }
    let slowest = slowest.unwrap_or(last);
    // Two stretches are told, not one twice.
    let is_held = slowest.rows_per_second >= HELD * fastest.rows_per_second;
    let fastest = if fastest.rows_from == last.rows_from && is_held { slowest } else { fastest };
    let share = last.rows_per_second / fastest.rows_per_second.max(f64::MIN_POSITIVE);
    let values = [
        ("line", name(model, treatment, lang)),
        ("fastest", figures::digits(fastest.rows_per_second)),
        ("from", figures::count(fastest.rows_from)),
        ("to", figures::count(fastest.rows_to)),
        ("slowest", figures::digits(slowest.rows_per_second)),
        ("slow_from", figures::count(slowest.rows_from)),
        ("slow_to", figures::count(slowest.rows_to)),
        ("last", figures::digits(last.rows_per_second)),
        ("last_from", figures::count(last.rows_from)),
        ("last_to", figures::count(last.rows_to)),
        ("share", figures::percent(100.0 * share)),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    // Only what was never slower has held its rate.
    if is_held {
        return GROWTH_HELD.fill(lang, &values);
    }
    if share >= HELD {
        return GROWTH_ROSE.fill(lang, &values);
    }
    let mut sentences = vec![GROWTH_FELL.fill(lang, &values)];
    let seen = |moment: &GrowthMoment| Some((moment.cpu_percent?, moment.disk_busy_percent?));
    if let (Some(before), Some(after)) = (seen(fastest), seen(last)) {
        let values = [before.0, after.0, before.1, after.1].map(figures::percent);
        let names = ["cpu_before", "cpu_after", "disk_before", "disk_after"];
        let values: Vec<_> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
        sentences.push(GROWTH_RESOURCES.fill(lang, &values));
    }
    sentences.join(lang.space)
}

/// A trial of one interval, of which no course can be told.
fn one(line: String, moment: &GrowthMoment, lang: Lang) -> String {
    let values = [
        ("line", line),
        ("fastest", figures::digits(moment.rows_per_second)),
        ("from", figures::count(moment.rows_from)),
        ("to", figures::count(moment.rows_to)),
    ];
    GROWTH_ONE.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}
