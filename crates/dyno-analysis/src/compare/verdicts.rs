//! Ratios of the two sides and their verdicts.
//!
//! The procedure first judges one effect over all configurations for each metric, then the single
//! configurations where that effect was decided ([`crate::stats::gate`]). All metrics are judged
//! together, the primary one first, because any of them can fail a build.

use super::measured::{MeasuredPair, Sides, measured_pairs};
use super::overall::{MetricQuestion, statements};
use crate::compare::model::{
    CompareRules, CompareWarning, CompareWarningKind, ConfigurationPair, MetricPair, OverallEffect,
};
use crate::comparisons::{MIN_REPEATS, settle_bound, store_judgement};
use crate::eligibility::counted_against;
use crate::estimate::as_u32;
use crate::model::{Effect, Verdict};
use crate::stats::compare::repeats_needed;
use crate::stats::gate;
use crate::stats::verdict::Rules;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Severity;

/// All comparisons with their verdicts.
pub(super) struct Verdicts {
    /// Comparisons, by pair of configurations.
    pub(super) metrics: Vec<Vec<MetricPair>>,
    /// Metrics without figures on one side, by pair of configurations.
    pub(super) without_figures: Vec<Vec<ComparisonMetric>>,
    /// One effect over all configurations, by metric, the primary one first.
    pub(super) overall: Vec<OverallEffect>,
    /// The same for kinds of statements.
    pub(super) statements: Vec<OverallEffect>,
    /// The rules behind the verdicts.
    pub(super) rules: CompareRules,
}

/// Compares all pairs of configurations: first over all of them, then each.
pub(super) fn verdicts(
    pairs: &[Sides<'_>],
    metrics: &[ComparisonMetric],
    primary: ComparisonMetric,
    rules: Rules,
) -> Verdicts {
    let all = pairs.iter().map(|sides| measured_pairs(*sides, metrics));
    let (mut all, without_figures): (Vec<Vec<MeasuredPair>>, Vec<Vec<MeasuredPair>>) =
        all.map(|row| row.into_iter().partition(MeasuredPair::has_figures)).unzip();
    let questions = metric_questions(&all, pairs, metrics, primary);
    let tests: Vec<gate::QuestionTests> =
        questions.iter().map(MetricQuestion::question_tests).collect();
    let judged = gate::judge(&[tests], gate::EFFECT_SHARE_OF_SIDES, rules).remove(0);
    for (it, judged) in questions.iter().zip(&judged) {
        for ((pair, test), judgement) in it.tests.iter().zip(&judged.pairs) {
            if let Some(one) = all[*pair].iter_mut().find(|one| one.metric == it.metric) {
                one.effect.ratio = Some(test.ratio);
                store_judgement(&mut one.effect, it.metric, test, judgement);
            }
        }
    }
    for (row, sides) in all.iter_mut().zip(pairs) {
        row.iter_mut().for_each(|one| apply_verdict(one, *sides, rules));
    }
    let alone = |it: &MetricQuestion<'_>| match it.members.as_slice() {
        [only] => all[*only].iter().find(|one| one.metric == it.metric).map(|one| one.effect),
        _ => None,
    };
    let overall = |(it, judged): (&MetricQuestion<'_>, &gate::QuestionVerdicts)| {
        let overall = it.overall(judged.effect, Some(judged), rules);
        OverallEffect { effect: alone(it).unwrap_or(overall.effect), ..overall }
    };
    let overall = questions.iter().zip(&judged).map(overall).collect();
    let family = as_u32(questions.iter().map(|it| it.tests.len()).sum());
    let metrics: Vec<Vec<MetricPair>> =
        all.into_iter().map(|row| row.into_iter().map(MeasuredPair::into_pair).collect()).collect();
    let reported = || metrics.iter().flatten().filter(|it| it.verdict != Verdict::Equivalent);
    let compare_rules = CompareRules {
        margin: rules.margin,
        alpha: rules.alpha,
        reserve: gate::SHARE_OF_SECONDARY_METRICS,
        min_repeats: MIN_REPEATS as u32,
        family,
        interval_level: reported().filter_map(|it| it.interval_level).reduce(f64::min),
    };
    let without_figures = without_figures
        .into_iter()
        .map(|row| row.into_iter().map(|it| it.metric).collect())
        .collect();
    let statements = statements(pairs, &judged, rules);
    Verdicts { metrics, without_figures, overall, statements, rules: compare_rules }
}

/// The question about each metric with figures, the primary metric first.
fn metric_questions<'a>(
    all: &[Vec<MeasuredPair>],
    pairs: &[Sides<'a>],
    metrics: &[ComparisonMetric],
    primary: ComparisonMetric,
) -> Vec<MetricQuestion<'a>> {
    let of = |metric: &ComparisonMetric| {
        let find = |row: &'_ Vec<MeasuredPair>| row.iter().position(|it| it.metric == *metric);
        let members: Vec<(usize, &MeasuredPair)> = all
            .iter()
            .enumerate()
            .filter_map(|(pair, row)| Some((pair, &row[find(row)?])))
            .collect();
        (!members.is_empty()).then(|| MetricQuestion::new(*metric, None, pairs, &members))
    };
    let mut questions: Vec<MetricQuestion<'a>> = metrics.iter().filter_map(of).collect();
    questions.sort_by_key(|it| it.metric != primary);
    questions
}

/// Removes from a comparison what its verdict does not support, and adds the number of repeats that
/// would decide it.
fn apply_verdict(pair: &mut MeasuredPair, (base, new): Sides<'_>, rules: Rules) {
    let effect = &mut pair.effect;
    let is_bound = effect.bound.is_some();
    settle_bound(effect);
    if is_bound {
        pair.by_ranks = None;
    }
    let verdict = effect.verdict.unwrap_or(Verdict::Invalid);
    let (of_base, of_new) = (base.eligibility.not_working(), new.eligibility.not_working());
    if (of_base.is_some() || of_new.is_some())
        && counted_against(verdict, of_new, of_base) == Verdict::Invalid
    {
        // The remaining figures would look like a result.
        *effect = Effect { verdict: Some(Verdict::Invalid), ..Effect::default() };
        pair.by_ranks = None;
    } else if !is_bound && verdict == Verdict::Inconclusive {
        let [base, new] = pair.cell.values();
        // If the current number should already be enough, a difference close to the margin needs
        // more.
        let more = base.len().min(new.len()) + 1;
        let risk = effect.interval_level.map_or(rules.alpha, |level| 1.0 - level);
        let needed = repeats_needed(&new, &base, rules.margin, risk);
        pair.repeats_needed = needed.map(|needed| as_u32(needed.max(more).max(MIN_REPEATS)));
    }
}

/// Number of valid trials on each side from which a disagreement of the two tests is informative.
/// With fewer trials, the rank test detects a difference only if the sides hardly overlap.
const RANK_TEST_REPEATS_MIN: u32 = 6;

/// The comparisons in which only one of the two tests detects a difference; `None` if there are
/// none.
pub(super) fn disagreement(
    configurations: &[ConfigurationPair],
    alpha: f64,
) -> Option<CompareWarning> {
    let all = configurations
        .iter()
        .flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)));
    let comparisons: Vec<_> = all
        .filter(|(_, metric)| disagrees(metric, alpha))
        .map(|(pair, metric)| (pair.name.clone(), metric.metric))
        .collect();
    (!comparisons.is_empty()).then_some(CompareWarning {
        severity: Severity::Warning,
        kind: CompareWarningKind::RanksDisagree { comparisons },
    })
}

fn disagrees(pair: &MetricPair, alpha: f64) -> bool {
    let repeats = pair.base.zip(pair.new).map_or(0, |(base, new)| base.repeats.min(new.repeats));
    // Uncorrected p-values: the warning is about each comparison alone, not about the family.
    let p_values = pair.p.zip(pair.by_ranks.map(|ranks| ranks.p));
    p_values.is_some_and(|(welch, ranks)| {
        repeats >= RANK_TEST_REPEATS_MIN && (welch < alpha) != (ranks < alpha)
    })
}
