//! Words and sentences about tables that grow.

pub(crate) use super::languages::en::growth::*;
use super::languages::{Lang, Message};
use super::{fill, names};
use crate::figures;
use dyno_analysis::model::{GrowthLead, GrowthMoment, ReportModel};

/// From this share of its maximum on, a rate counts as sustained.
const HELD: f64 = 0.95;

/// Name of a configuration in sentences: its series, with the number of clients if it varies.
pub(crate) fn name(model: &ReportModel, configuration: usize, lang: Lang) -> String {
    let series = model.configurations[configuration].series;
    let is_alone = model.configurations.iter().filter(|other| other.series == series).count() == 1;
    if is_alone {
        model.series[series].label.clone()
    } else {
        names::configuration(model, configuration, lang)
    }
}

pub(super) fn crossing(
    model: &ReportModel,
    before: &GrowthLead,
    after: &GrowthLead,
    lang: Lang,
) -> String {
    fill!(
        GROWTH_CROSSED,
        lang,
        leader = name(model, after.leader, lang),
        other = name(model, after.other, lang),
        from = figures::count(after.rows_from),
        leader_rate = figures::digits(after.leader_rate),
        other_rate = figures::digits(after.other_rate),
        before = figures::count(before.rows_to),
        leader_before = figures::digits(before.other_rate),
        other_before = figures::digits(before.leader_rate)
    )
}

pub(super) fn lead(model: &ReportModel, lead: &GrowthLead, lang: Lang) -> String {
    let [leader, other] =
        [lead.leader, lead.other].map(|configuration| name(model, configuration, lang));
    let [from, to] = [lead.rows_from, lead.rows_to].map(figures::count);
    let [low, high] = [lead.ratio.low, lead.ratio.high].map(figures::ratio);
    let [leader_rate, other_rate] = [lead.leader_rate, lead.other_rate].map(figures::digits);
    fill!(GROWTH_AHEAD, lang, leader, other, from, to, low, high, leader_rate, other_rate)
}

pub(super) fn steps(
    model: &ReportModel,
    configuration: usize,
    (fastest, slowest, last): (&GrowthMoment, &GrowthMoment, &GrowthMoment),
    lang: Lang,
) -> String {
    let series = name(model, configuration, lang);
    if fastest.rows_from == last.rows_from && slowest.rows_from == last.rows_from {
        // A trial with a single interval has no trend to describe.
        let (from, to) = (figures::count(last.rows_from), figures::count(last.rows_to));
        return fill!(
            GROWTH_ONE,
            lang,
            series,
            fastest = figures::digits(last.rows_per_second),
            from,
            to
        );
    }
    // Describes two distinct intervals, not the same one twice.
    let is_held = slowest.rows_per_second >= HELD * fastest.rows_per_second;
    let fastest = if fastest.rows_from == last.rows_from && is_held { slowest } else { fastest };
    let share = last.rows_per_second / fastest.rows_per_second.max(f64::MIN_POSITIVE);
    let rates = [fastest, slowest, last].map(|moment| figures::digits(moment.rows_per_second));
    let say = |message: Message| {
        fill!(
            message,
            lang,
            series,
            fastest = rates[0],
            from = figures::count(fastest.rows_from),
            to = figures::count(fastest.rows_to),
            slowest = rates[1],
            slow_from = figures::count(slowest.rows_from),
            slow_to = figures::count(slowest.rows_to),
            last = rates[2],
            last_from = figures::count(last.rows_from),
            last_to = figures::count(last.rows_to),
            share = figures::percent(100.0 * share)
        )
    };
    // Only a rate that was never slower counts as sustained.
    if is_held {
        return say(GROWTH_HELD);
    }
    if share >= HELD {
        return say(GROWTH_ROSE);
    }
    let mut sentences = vec![say(GROWTH_FELL)];
    let seen = |moment: &GrowthMoment| Some([moment.cpu_percent?, moment.disk_busy_percent?]);
    if let (Some(before), Some(after)) = (seen(fastest), seen(last)) {
        let [cpu_before, disk_before] = before.map(figures::percent);
        let [cpu_after, disk_after] = after.map(figures::percent);
        sentences.push(fill!(
            GROWTH_RESOURCES,
            lang,
            cpu_before,
            cpu_after,
            disk_before,
            disk_after
        ));
    }
    sentences.join(lang.space)
}
