//! Key results at the top of a report, for readers who read nothing else. They are derived from the
//! model and not part of its JSON form.

use super::{
    Effect, Estimate, MeanTimelinePoint, Metric, ReportModel, Timeline, Verdict, mean_timeline,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::lists::distinct;
use dyno_model::plan::ComparisonMetric;

/// The configurations whose results appear at the top of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headline {
    /// The best configuration of the only series with results.
    One(usize),
    /// The two sides of the only comparison, at the number of clients where the better side has its
    /// best value.
    Change {
        /// Index of the baseline's configuration.
        baseline: usize,
        /// Index of the configuration that is compared with it.
        subject: usize,
    },
    /// The best configurations of the series with the lowest peak and of the series with the
    /// highest.
    Ends {
        /// The worst.
        worst: usize,
        /// The best.
        best: usize,
    },
}

/// The effect between two configurations: the answer over all pairs that ask the same question,
/// where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change<'a> {
    /// The ratio and its verdict.
    pub effect: &'a Effect,
    /// Number of configuration pairs.
    pub pairs: u32,
    /// The effect between these two configurations alone, if it was compared.
    pub own: Option<&'a Effect>,
}

/// Acknowledged commits that are missing from the data, over all audited configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Losses {
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// Lost commits, lower bound.
    pub lost: u64,
    /// Lost commits, upper bound.
    pub lost_max: u64,
    /// Acknowledged commits that were checked.
    pub committed: u64,
}

impl ReportModel {
    /// A configuration's estimate of a metric.
    #[must_use]
    pub fn estimate(&self, configuration: usize, metric: ComparisonMetric) -> Option<Estimate> {
        self.configurations[configuration].figures.estimate(metric)
    }

    /// The configurations at the top of the report; absent without results.
    #[must_use]
    pub fn headline(&self) -> Option<Headline> {
        let has_figures = |metric: &ComparisonMetric| {
            (0..self.configurations.len())
                .any(|configuration| self.estimate(configuration, *metric).is_some())
        };
        let metric =
            [self.primary_metric, ComparisonMetric::Throughput].into_iter().find(has_figures)?;
        // Higher is better.
        let worth = |configuration: usize| {
            let mean = self.estimate(configuration, metric)?.mean;
            Some(if metric.is_more_better() { mean } else { -mean })
        };
        let best = |configurations: Vec<usize>| {
            let all = configurations
                .into_iter()
                .filter_map(|configuration| Some((configuration, worth(configuration)?)));
            all.reduce(|one, other| if other.1 > one.1 { other } else { one })
        };
        if self.series.len() == 2 {
            let pairs = self.comparisons.iter().filter(|it| it.metric == metric);
            let pairs = pairs.filter_map(|it| Some((it, best(vec![it.subject, it.baseline])?.1)));
            if let Some((it, _)) =
                pairs.reduce(|one, other| if other.1 > one.1 { other } else { one })
            {
                return Some(Headline::Change { baseline: it.baseline, subject: it.subject });
            }
        }
        let of_series = |series: usize| {
            let all = (0..self.configurations.len())
                .filter(|it| self.configurations[*it].series == series);
            best(all.collect())
        };
        let mut peaks: Vec<(usize, f64)> = (0..self.series.len()).filter_map(of_series).collect();
        peaks.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        match peaks[..] {
            [] => None,
            [(only, _)] => Some(Headline::One(only)),
            [(worst, _), .., (best, _)] => Some(Headline::Ends { worst, best }),
        }
    }

    /// The effect between the two sides of a headline.
    #[must_use]
    pub fn change(
        &self,
        metric: ComparisonMetric,
        baseline: usize,
        subject: usize,
    ) -> Option<Change<'_>> {
        let is_it = |at: &usize| {
            let comparison = &self.comparisons[*at];
            (comparison.metric, comparison.baseline, comparison.subject)
                == (metric, baseline, subject)
        };
        let question = self.questions.iter().find(|it| it.comparisons.iter().any(&is_it));
        let own = (0..self.comparisons.len()).find(is_it).map(|at| &self.comparisons[at].effect);
        let overall = question.map(|it| Change { effect: &it.effect, pairs: it.pairs, own });
        overall.or_else(|| Some(Change { effect: own?, pairs: 1, own }))
    }

    /// The mean time series of a configuration's valid trials.
    #[must_use]
    pub fn mean_timeline(&self, configuration: usize) -> Vec<MeanTimelinePoint> {
        let is_usable = |timeline: &&Timeline| {
            let trial = self.trials.iter().find(|trial| trial.id == timeline.trial);
            trial.is_some_and(|trial| trial.state.is_usable())
        };
        let of_configuration =
            self.timelines.iter().filter(|timeline| timeline.configuration == configuration);
        mean_timeline(of_configuration.filter(is_usable).map(|timeline| timeline.points.as_slice()))
    }

    /// Verdicts on the primary metric: those of the questions, or those of comparisons where each
    /// question has a single configuration pair. Empty without verdicts.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let of_questions = self.questions.iter().map(|it| (it.metric, it.effect));
        let pairs = self
            .comparisons
            .iter()
            .map(|it| (it.metric, it.effect))
            .filter(|_| self.questions.is_empty());
        let of_first =
            of_questions.chain(pairs).filter(|(metric, _)| *metric == self.primary_metric);
        of_first.filter_map(|(_, effect)| effect.verdict).collect()
    }

    /// Permanently failed and started transactions in measured trials; absent where they were not
    /// counted.
    #[must_use]
    pub fn failures(&self) -> Option<(u64, u64)> {
        let trials = self.trials.iter().filter_map(|trial| trial.figures.as_ref());
        let counts = trials.filter_map(|it| {
            let failed = it.count(Metric::Failed)?;
            let others = [Metric::Committed, Metric::Unfinished].map(|of| it.count(of));
            Some((failed, failed + others.into_iter().flatten().sum::<u64>()))
        });
        counts.reduce(|(failed, started), (other, of)| (failed + other, started + of))
    }

    /// Losses found by audits; absent without audits.
    #[must_use]
    pub fn losses(&self) -> Option<Losses> {
        let each = self.audits.iter().filter_map(|audit| {
            let commits = audit.commits.as_ref()?;
            let (lost, lost_max, committed) = (commits.lost, commits.lost_max, commits.committed);
            Some(Losses { verdict: audit.losses, lost, lost_max, committed })
        });
        each.reduce(|one, other| Losses {
            verdict: one.verdict.max(other.verdict),
            lost: one.lost + other.lost,
            lost_max: one.lost_max + other.lost_max,
            committed: one.committed + other.committed,
        })
    }

    /// Limits in the order of the spec, each with its rows.
    pub fn limits_with_rows(&self) -> impl Iterator<Item = Vec<&super::LimitRow>> {
        let key = |row: &super::LimitRow| (row.metric, row.value.to_bits(), row.part.clone());
        distinct(self.limits.iter().map(key))
            .into_iter()
            .map(move |limit| self.limits.iter().filter(|row| key(row) == limit).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_store::fixture::Shape;

    fn model(systems: usize, clients: Vec<u32>) -> ReportModel {
        crate::analyse(&Shape { systems, clients, has_failures: false, ..Shape::small() }.read())
    }

    #[test]
    fn headline_is_best_change_or_range_for_one_two_or_more_series() {
        let one = model(1, vec![1, 20]);
        let most = |of: &ReportModel, series: usize| {
            let rows = of.configurations.iter().enumerate().filter(|(_, row)| row.series == series);
            let rates =
                rows.filter_map(|(at, row)| Some((at, row.figures.value(Metric::Throughput)?)));
            rates.max_by(|one, other| one.1.total_cmp(&other.1)).expect("figures").0
        };
        assert_eq!(one.headline(), Some(Headline::One(most(&one, 0))));
        let two = model(2, vec![1, 20]);
        let Some(Headline::Change { baseline, subject }) = two.headline() else {
            panic!("{two:?}")
        };
        let (baseline_row, subject_row) =
            (&two.configurations[baseline], &two.configurations[subject]);
        assert_eq!(
            (baseline_row.series, subject_row.series, baseline_row.clients),
            (0, 1, subject_row.clients)
        );
        let change =
            two.change(ComparisonMetric::Throughput, baseline, subject).expect("it is compared");
        assert_eq!((change.pairs, change.effect), (2, &two.questions[0].effect));
        let alone = model(2, vec![20]);
        let Some(Headline::Change { baseline, subject }) = alone.headline() else {
            panic!("{alone:?}")
        };
        let change =
            alone.change(ComparisonMetric::Throughput, baseline, subject).expect("it is compared");
        assert_eq!((change.pairs, change.effect), (1, &alone.comparisons[0].effect));
        let three = model(3, vec![1, 20]);
        let Some(Headline::Ends { worst, best }) = three.headline() else { panic!("{three:?}") };
        let rate =
            |at: usize| three.estimate(at, ComparisonMetric::Throughput).expect("a figure").mean;
        assert!(
            (0..3).all(|series| (rate(worst)..=rate(best)).contains(&rate(most(&three, series))))
        );
        let none = ReportModel { configurations: Vec::new(), series: Vec::new(), ..three };
        assert_eq!(none.headline(), None);
    }

    #[test]
    fn failures_are_counted_against_started_transactions_if_known() {
        let mut model = model(1, vec![1]);
        let started = |model: &ReportModel| {
            let all = model.trials.iter().filter_map(|trial| trial.figures.as_ref());
            let parts = [Metric::Committed, Metric::Failed, Metric::Unfinished];
            all.flat_map(|it| parts.map(|of| it.count(of).unwrap_or(0))).sum::<u64>()
        };
        for figures in model.trials.iter_mut().filter_map(|trial| trial.figures.as_mut()) {
            figures.set(Metric::Failed, Some(2_u64));
        }
        let failed = 2 * model.trials.len() as u64;
        assert_eq!(model.failures(), Some((failed, started(&model))));
        for figures in model.trials.iter_mut().filter_map(|trial| trial.figures.as_mut()) {
            figures.set(Metric::Failed, None::<u64>);
        }
        assert_eq!(model.failures(), None);
    }
}
