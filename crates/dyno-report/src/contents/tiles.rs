//! Tiles: the key figures at the top of a report and of a comparison.

use crate::figures;
use crate::grid::{chip, unbroken};
use crate::messages::{Lang, fill, page, tiles};
use crate::words::{self, Word};
use dyno_analysis::model::{Change, Effect, Estimate, Range, RatioBound, Verdict};
use dyno_model::plan::ComparisonMetric;
use maud::{Markup, html};

/// Maximum number of limits with a tile; the table of limits shows all of them.
pub(crate) const LIMITS_MAX: usize = 4;

/// One figure with its name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tile {
    pub(crate) name: String,
    /// The earlier value; a tile without one shows only the current figure.
    pub(crate) before: Option<String>,
    pub(crate) value: String,
    /// Symbol of its unit, the same in all languages.
    pub(crate) unit: &'static str,
    /// The verdict on it.
    pub(crate) word: Option<Word>,
    /// By how much it changed.
    pub(crate) change: String,
    /// Subject and uncertainty of the figure; one line each.
    pub(crate) notes: Vec<String>,
    /// Section of the page with more details.
    pub(crate) link: Option<&'static str>,
    /// True when the value indicates a problem.
    pub(crate) is_alarming: bool,
}

impl Tile {
    pub(crate) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), ..Self::default() }
    }

    /// A figure with its interval.
    pub(crate) fn estimate(name: impl Into<String>, estimate: &Estimate, lang: Lang) -> Self {
        let unit = figures::symbol(estimate.unit);
        let number = |value: f64| figures::value(estimate.unit, value);
        let note = match estimate.interval {
            Some(Range { low, high }) => {
                let (level, low, high) = ("95 %", number(low), number(high));
                Some(fill!(tiles::INTERVAL, lang, level, low, high))
            }
            None if estimate.is_bound => None,
            None if estimate.repeats == 1 => Some(tiles::ONE_TRIAL.text(lang).to_owned()),
            None => Some(tiles::NO_INTERVAL.text(lang).to_owned()),
        };
        Self { unit, notes: note.into_iter().collect(), ..Self::new(name, figures::mean(estimate)) }
    }

    /// A figure of the configuration `at` before and after, with the verdict on the change over all
    /// configurations. If there are several, their common change is not the quotient of the two
    /// figures, which is given beside them with its own interval.
    pub(crate) fn change(
        name: impl Into<String>,
        at: String,
        [before, after]: [&Estimate; 2],
        change: Option<Change<'_>>,
        lang: Lang,
    ) -> Self {
        let shown = Self {
            before: Some(figures::mean(before)),
            unit: figures::symbol(after.unit),
            ..Self::new(name, figures::mean(after))
        };
        let Some(Change { effect, pairs, own }) = change else {
            return Self { notes: vec![at], ..shown };
        };
        let mut change = effect.ratio.map_or_else(String::new, |ratio| by(ratio, effect.bound));
        let mut notes = vec![at];
        if pairs > 1 && !change.is_empty() {
            change = format!("{change} {}", fill!(tiles::OVER, lang, number = pairs));
            if !before.is_bound && !after.is_bound && before.mean > 0.0 {
                notes[0] = format!("{}: {}", notes[0], by(after.mean / before.mean, None));
                notes.extend(own.and_then(|own| interval(own, lang)));
            }
        }
        notes.extend(interval(effect, lang).map(|interval| match pairs {
            ..=1 => interval,
            _ => fill!(tiles::INTERVAL_OVER, lang, number = pairs, interval),
        }));
        // Without a test there is no verdict.
        let is_tested = effect.verdict != Some(Verdict::Inconclusive) || effect.p.is_some();
        let word = effect.verdict.filter(|_| is_tested);
        let word = word.map_or(words::word(&page::PAGE_CHIP_NO_VERDICT, "none"), |it| {
            words::verdict(Some(it))
        });
        Self { word: Some(word), change, notes, ..shown }
    }

    fn markup(&self, lang: Lang) -> Markup {
        html! {
            li class={ "tile" @if self.is_alarming { " bad" } @if self.word.is_some() && self.before.is_some() { " broad" } } {
                span.name { @match self.link {
                    Some(part) => a href={ "#" (part) } { (lang.figure(self.name.clone())) },
                    None => (unbroken(&self.name)),
                } }
                span.big {
                    @if let Some(before) = &self.before { span.before { (before) " →" } " " }
                    b { (lang.figure(self.value.clone())) }
                    @if !self.unit.is_empty() { " " small { (self.unit) } }
                }
                @if self.word.is_some() || !self.change.is_empty() {
                    span.judged {
                        @if let Some(word) = self.word { (chip(word, lang)) }
                        @if !self.change.is_empty() { " " b { (lang.figure(self.change.clone())) } }
                    }
                }
                @for note in &self.notes { span.more { (unbroken(note)) } }
            }
        }
    }
}

/// All tiles, in one or more rows.
pub(crate) fn markup(all: &[Tile], lang: Lang) -> Markup {
    html! {
        @if !all.is_empty() {
            ul.tiles aria-label=(tiles::TILES.text(lang)) { @for tile in all { (tile.markup(lang)) } }
        }
    }
}

/// Title of a metric's tile.
pub(crate) fn name(metric: ComparisonMetric, lang: Lang) -> String {
    let figure = match metric {
        ComparisonMetric::Throughput => return tiles::THROUGHPUT.text(lang).to_owned(),
        ComparisonMetric::HighestRate => return tiles::HIGHEST_RATE.text(lang).to_owned(),
        ComparisonMetric::MostClients => return tiles::MOST_CLIENTS.text(lang).to_owned(),
        ComparisonMetric::MeanMs => crate::messages::columns::MEAN.text(lang),
        ComparisonMetric::P50Ms => "p50",
        ComparisonMetric::P90Ms => "p90",
        ComparisonMetric::P95Ms => "p95",
        ComparisonMetric::P99Ms => "p99",
        ComparisonMetric::P999Ms => "p99.9",
        ComparisonMetric::MaxMs => crate::messages::columns::MAX.text(lang),
    };
    fill!(tiles::RESPONSE_TIME, lang, figure)
}

/// Response times; the first one that is known gets a tile.
pub(crate) const TIMES: [ComparisonMetric; 4] = [
    ComparisonMetric::P99Ms,
    ComparisonMetric::P95Ms,
    ComparisonMetric::P50Ms,
    ComparisonMetric::MeanMs,
];

/// Whether a ratio is shown as a factor.
fn is_factor(ratio: f64) -> bool {
    ratio >= 2.0
}

/// The size of a change: `+23 %`, `-82 %`, `×13.0`.
fn by(ratio: f64, bound: Option<RatioBound>) -> String {
    match bound {
        None if is_factor(ratio) => format!("×{}", figures::ratio(ratio)),
        None => figures::difference((ratio - 1.0) * 100.0),
        bound => format!("×{}", figures::bounded_ratio(ratio, bound)),
    }
}

/// The interval of an effect, in the same format as its ratio.
fn interval(effect: &Effect, lang: Lang) -> Option<String> {
    let Range { low, high } = effect.ratio_interval?;
    let level = figures::level(effect.interval_level.unwrap_or(0.95));
    let (low, high) = ends(effect.ratio.unwrap_or(1.0), low, high);
    Some(fill!(tiles::INTERVAL, lang, level, low, high))
}

/// The bounds of an interval, in the same format as its ratio.
fn ends(ratio: f64, low: f64, high: f64) -> (String, String) {
    if is_factor(ratio) || high > 10.0 {
        let [low, high] = figures::ends(Range { low, high });
        return (format!("×{low}"), format!("×{high}"));
    }
    let of = |ratio: f64| figures::difference((ratio - 1.0) * 100.0);
    (of(low), of(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::EN;
    use dyno_analysis::model::Unit;

    #[test]
    fn changes_and_intervals_are_percent_or_factors_from_twofold_on() {
        let estimate = |mean| Estimate {
            unit: Unit::TransactionsPerSecond,
            mean,
            interval: None,
            repeats: 3,
            is_bound: false,
        };
        for ([before, after], [low, high], change, interval) in [
            ([310.0, 4_030.0], [12.1, 13.9], "×13.0", "95 % interval: ×12.1 to ×13.9"),
            ([100.0, 123.0], [1.12, 1.35], "+23 %", "95 % interval: +12 % to +35 %"),
            ([100.0, 18.0], [0.15, 0.22], "-82 %", "95 % interval: -85 % to -78 %"),
            ([100.0, 110.0], [0.001, 1_200.0], "+10 %", "95 % interval: ×< 0.01 to ×> 100"),
        ] {
            let notes = |at: &str| vec![at.to_owned(), interval.to_owned()];
            let effect = Effect {
                ratio: Some(after / before),
                ratio_interval: Some(Range { low, high }),
                verdict: Some(Verdict::Better),
                ..Effect::default()
            };
            let sides = [&estimate(before), &estimate(after)];
            let own = Effect { ratio_interval: Some(Range { low: 0.9, high: 1.2 }), ..effect };
            let tile = |pairs| {
                let change = Change { effect: &effect, pairs, own: Some(&own) };
                Tile::change("", "16 clients".to_owned(), sides, Some(change), EN)
            };
            let alone = tile(1);
            assert_eq!((alone.change.as_str(), alone.notes), (change, notes("16 clients")));
            let pooled = tile(6);
            assert_eq!(pooled.change, format!("{change} over 6 configurations"));
            // Each of the two ratios has its own interval.
            let [at, of_own, of_all] = &pooled.notes[..] else { panic!("{:?}", pooled.notes) };
            assert_eq!(*at, format!("16 clients: {change}"));
            assert!(of_own.starts_with("95 % interval: ") && *of_own != interval, "{of_own}");
            assert_eq!(*of_all, format!("over 6 configurations: {interval}"));
        }
    }
}
