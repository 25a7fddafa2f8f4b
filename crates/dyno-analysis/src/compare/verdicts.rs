//! Ratios of both sides and their verdicts.
//!
//! First comes one effect over all treatments for each metric, then the treatments of those that were answered ([`crate::stats::gate`]). All metrics are judged
//! together, because any of them can fail a build.

use super::over_all::{Asked, statements};
use super::pool::PooledTreatment;
use crate::compare::model::{
    ByRanks, CompareDoubt, CompareFinding, CompareRules, MetricPair, OverAll, TreatmentPair,
};
use crate::comparisons::{MIN_REPEATS, open_verdict, verdict, verdict_on_bounds};
use crate::estimate::{count, estimate_among, has_bound};
use crate::model::{Range, RatioBound, Verdict};
use crate::standing::held_against;
use crate::stats::compare::{RatioTest, repeats_needed};
use crate::stats::gate;
use crate::stats::ranks::rank_sum;
use crate::stats::sides::{Cell, Place};
use crate::stats::student;
use crate::stats::verdict::{Judgement, Rules};
use dyno_model::audit::AuditVerdict;
use dyno_model::finding::Severity;
use dyno_model::plan::{LoadPlan, Metric};

/// What is known of one comparison before any is judged.
pub(super) struct Measured {
    pub(super) pair: MetricPair,
    /// The test, where there are enough values on both sides and the audits are not against it.
    pub(super) test: Option<RatioTest>,
    /// The values of both sides with their places; none where the treatment cannot be compared.
    pub(super) cell: Cell,
    /// True when both sides have a trial that is compared.
    pub(super) is_usable: bool,
}

/// Two treatments that belong together: base, new.
pub(super) type Sides<'a> = (&'a PooledTreatment<'a>, &'a PooledTreatment<'a>);

/// What was found.
pub(super) struct Verdicts {
    /// Comparisons, by pair of treatments.
    pub(super) metrics: Vec<Vec<MetricPair>>,
    /// One effect over all treatments, by metric.
    pub(super) over_all: Vec<OverAll>,
    /// The same of kinds of statements.
    pub(super) statements: Vec<OverAll>,
    /// How they were made.
    pub(super) rules: CompareRules,
}

/// Comparisons of every pair of treatments: first over all of them, then each.
pub(super) fn verdicts(pairs: &[Sides<'_>], metrics: &[Metric], rules: Rules) -> Verdicts {
    let mut all: Vec<Vec<Measured>> = pairs.iter().map(|sides| measured(*sides, metrics)).collect();
    let has = |metric: &&Metric| all.iter().flatten().any(|it| it.pair.metric == **metric);
    let asked: Vec<Asked<'_>> = metrics
        .iter()
        .filter(has)
        .map(|metric| {
            let of = |row: &'_ Vec<Measured>| row.iter().position(|it| it.pair.metric == *metric);
            let members = all.iter().enumerate().filter_map(|(pair, row)| Some((pair, &row[of(row)?])));
            Asked::new(*metric, None, pairs, members.collect())
        })
        .collect();
    let known: Vec<gate::QuestionTests> = asked.iter().map(Asked::known).collect();
    let has_runs = asked.iter().any(Asked::has_runs);
    let judged = gate::judge(&known, if has_runs { gate::SIDES_OF_RUNS } else { gate::SIDES }, rules);
    for (it, judged) in asked.iter().zip(&judged) {
        for ((pair, test), judgement) in it.tests.iter().zip(&judged.cells) {
            let of_metric = |one: &&mut Measured| one.pair.metric == it.metric;
            if let Some(one) = all[*pair].iter_mut().find(of_metric) {
                tell(&mut one.pair, test, judgement);
            }
        }
    }
    for (row, sides) in all.iter_mut().zip(pairs) {
        row.iter_mut().for_each(|one| settle(one, *sides, rules));
    }
    let several = |it: &&Asked<'_>| it.treatments > 1;
    let over_all = asked
        .iter()
        .zip(&judged)
        .filter(|(it, _)| several(it))
        .map(|(it, judged)| it.over_all(judged.effect, Some(judged), rules))
        .collect();
    let metrics: Vec<Vec<MetricPair>> =
        all.into_iter().map(|row| row.into_iter().map(|measured| measured.pair).collect()).collect();
    let told = || metrics.iter().flatten().filter(|it| it.verdict != Verdict::Equivalent);
    let rules_made = CompareRules {
        margin: rules.margin,
        alpha: rules.alpha,
        min_repeats: MIN_REPEATS as u32,
        family: count(asked.iter().map(|it| it.tests.len()).sum()),
        interval_level: told().filter_map(|it| it.interval_level).fold(1.0, f64::min),
    };
    Verdicts { metrics, over_all, statements: statements(pairs, &judged, rules), rules: rules_made }
}

fn measured((base, new): Sides<'_>, metrics: &[Metric]) -> Vec<Measured> {
    let loads = || [base, new].into_iter().map(|side| &side.treatment.load);
    let is_given = loads().all(LoadPlan::gives_throughput);
    // Who asks for nothing else gets it nevertheless.
    let is_told = |metric: &&Metric| match metric.searched() {
        Some(most) => loads().all(|load| load.find.is_some_and(|search| search.most == most)),
        None => metrics.len() == 1 || !is_given || **metric != Metric::Throughput,
    };
    metrics.iter().filter(is_told).map(|metric| measure(base, new, *metric)).collect()
}

/// Writes down what was judged.
fn tell(pair: &mut MetricPair, test: &RatioTest, judgement: &Judgement) {
    (pair.verdict, pair.exceeds_margin) = verdict(pair.metric, judgement);
    pair.ratio = Some(test.ratio);
    pair.ratio_interval = Some(Range { low: judgement.low, high: judgement.high });
    pair.interval_level = Some(judgement.level);
    pair.p = Some(test.p);
    pair.p_corrected = Some(judgement.p_corrected);
    pair.detectable_ratio = Some(judgement.detectable_ratio);
}

/// Takes from a comparison what does not follow, and says what would decide it.
fn settle(measured: &mut Measured, (base, new): Sides<'_>, rules: Rules) {
    let pair = &mut measured.pair;
    if pair.bound.is_some() {
        settle_bound(pair);
    }
    let (of_base, of_new) = (base.standing.not_working(), new.standing.not_working());
    if (of_base.is_some() || of_new.is_some())
        && held_against(pair.verdict, of_new, of_base) == Verdict::Invalid
    {
        // What is left of the figures would look like an answer.
        *pair = MetricPair { base: pair.base, new: pair.new, ..invalid(pair.metric) };
    }
    if pair.bound.is_none() && pair.verdict == Verdict::Inconclusive {
        let values = |side: &[(Place, f64)]| side.iter().map(|(_, value)| *value).collect::<Vec<_>>();
        let (base, new) = (values(&measured.cell.base), values(&measured.cell.new));
        // Where as many as there are would have to do, a difference close to the margin needs still more.
        let more = base.len().min(new.len()) + 1;
        let risk = pair.interval_level.map_or(rules.alpha, |level| 1.0 - level);
        let needed = repeats_needed(&new, &base, rules.margin, risk);
        pair.repeats_needed = needed.map(|needed| count(needed.max(more).max(MIN_REPEATS)));
    }
}

/// A comparison that nothing is known of.
pub(super) fn invalid(metric: Metric) -> MetricPair {
    MetricPair {
        metric,
        base: None,
        new: None,
        ratio: None,
        bound: None,
        ratio_interval: None,
        interval_level: None,
        p: None,
        p_corrected: None,
        detectable_ratio: None,
        repeats_needed: None,
        by_ranks: None,
        exceeds_margin: false,
        verdict: Verdict::Invalid,
    }
}

fn measure(base: &PooledTreatment<'_>, new: &PooledTreatment<'_>, metric: Metric) -> Measured {
    let cell = cell_of(base, new, |side| {
        // A side of which a figure is missing is not compared at all.
        let figures = side.standing.figures(metric)?;
        Some(figures.into_iter().map(|(_, value)| value).collect())
    });
    let shown = |side: &PooledTreatment<'_>| match metric {
        // Trials without a commit have a throughput, too.
        Metric::Throughput => estimate_among(side.valid(), metric),
        _ => {
            let figures = side.standing.figures(metric)?;
            estimate_among(figures.into_iter().map(|(record, _)| record), metric)
        }
    };
    let values = |side: &[(Place, f64)]| side.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let (of_base, of_new) = (values(&cell.base), values(&cell.new));
    let is_violated = is_violated(base, new);
    let ratio = geometric_mean(&of_new).zip(geometric_mean(&of_base)).map(|(new, base)| new / base);
    let has_enough = of_base.len().min(of_new.len()) >= MIN_REPEATS;
    let is_bound = |side: &PooledTreatment<'_>| has_bound(side.standing.usable.iter().copied(), metric);
    let bound = RatioBound::of(is_bound(new), is_bound(base));
    let is_unknown = bound == Some(RatioBound::Unknown);
    let test = cell.welch().filter(|_| has_enough && !is_violated && !is_unknown);
    // Figures that too few transactions leave unknown keep a comparison open; a side without any trial to compare makes it invalid.
    let is_usable = !is_violated && [base, new].iter().all(|side| !side.standing.usable.is_empty());
    let pair = MetricPair {
        base: shown(base),
        new: shown(new),
        ratio: ratio.filter(|_| !is_unknown),
        bound,
        by_ranks: test.and_then(|_| rank_sum(&of_new, &of_base)).map(|ranks| ByRanks {
            ratio: ranks.ratio,
            ratio_interval: ranks.interval.map(|(low, high)| Range { low, high }),
            p: ranks.p,
        }),
        verdict: open_verdict(is_usable),
        ..invalid(metric)
    };
    Measured { pair, test, cell, is_usable }
}

/// Values of both sides with their places; nothing of a side that `values` has none for.
pub(super) fn cell_of<'a>(
    base: &'a PooledTreatment<'a>,
    new: &'a PooledTreatment<'a>,
    values: impl Fn(&'a PooledTreatment<'a>) -> Option<Vec<f64>>,
) -> Cell {
    let side = |side: &'a PooledTreatment<'a>| {
        side.places.iter().copied().zip(values(side).unwrap_or_default()).collect::<Vec<_>>()
    };
    Cell { base: side(base), new: side(new) }
}

/// True when an audit of a side found the data violated.
pub(super) fn is_violated(base: &PooledTreatment<'_>, new: &PooledTreatment<'_>) -> bool {
    let mut records = [base, new].into_iter().flat_map(|side| &side.records);
    records.any(|record| record.audit.verdict() == AuditVerdict::Violated)
}

/// Takes from a comparison of lower bounds what does not follow from them.
fn settle_bound(pair: &mut MetricPair) {
    let verdict = verdict_on_bounds(pair.verdict, pair.bound);
    (pair.ratio_interval, pair.interval_level) = (None, None);
    (pair.by_ranks, pair.detectable_ratio) = (None, None);
    if verdict != pair.verdict || verdict == Verdict::Inconclusive {
        (pair.p, pair.p_corrected) = (None, None);
        pair.exceeds_margin = false;
    }
    pair.verdict = verdict;
}

/// `None` without values, or when one of them is not positive.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|value| value.is_finite() && *value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    student::mean(&logarithms).filter(|_| are_positive).map(f64::exp)
}

/// Valid trials on each side from which a disagreement of both tests says something about the trials. With fewer, ranks find a
/// difference only where the sides hardly overlap.
const RANKS_MIN: u32 = 6;

/// The comparisons in which one of the two tests sees a difference that the other does not, if there are any.
pub(super) fn disagreement(treatments: &[TreatmentPair], alpha: f64) -> Option<CompareFinding> {
    let all = treatments.iter().flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)));
    let comparisons: Vec<_> = all
        .filter(|(_, metric)| disagrees(metric, alpha))
        .map(|(pair, metric)| (pair.name.clone(), metric.metric))
        .collect();
    (!comparisons.is_empty()).then_some(CompareFinding {
        severity: Severity::Warning,
        doubt: CompareDoubt::RanksDisagree { comparisons },
    })
}

fn disagrees(pair: &MetricPair, alpha: f64) -> bool {
    let repeats = pair.base.zip(pair.new).map_or(0, |(base, new)| base.repeats.min(new.repeats));
    // Each alone: whether there is a difference, not whether it stands among many.
    let both = pair.p.zip(pair.by_ranks.map(|ranks| ranks.p));
    both.is_some_and(|(welch, ranks)| repeats >= RANKS_MIN && (welch < alpha) != (ranks < alpha))
}
