//! One effect over all matched configurations, for each metric and each kind of statement.

use super::measured::{MeasuredPair, Sides, cell_of, is_violated};
use super::model::OverallEffect;
use super::pool::PooledConfiguration;
use crate::comparisons::{MIN_REPEATS, judged_effect, open_verdict, with_verdicts};
use crate::estimate::as_u32;
use crate::model::{Effect, Interaction, NotWorking};
use crate::questions::{Model, PairContext, interaction_factors, varied};
use crate::stats::compare::RatioTest;
use crate::stats::gate::{self, QuestionVerdicts, judge_secondary};
use crate::stats::sides::{self, Cell, overall, with_runs};
use crate::stats::verdict::{Judgement, Rules};
use dyno_model::lists;
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::TrialRecord;
use std::collections::BTreeSet;

/// A question with its data.
pub(super) struct MetricQuestion<'a> {
    pub(super) metric: ComparisonMetric,
    statement: Option<String>,
    /// The pairs of configurations with figures for it.
    pub(super) members: Vec<usize>,
    /// The pairs that are tested individually, with their tests.
    pub(super) tests: Vec<(usize, RatioTest)>,
    /// The settings of the pairs on which the answer is based.
    settings: Vec<PairContext<'a>>,
    found: sides::OverallEffect,
    interactions: Vec<Interaction>,
    not_working: [Option<NotWorking>; 2],
    is_usable: bool,
}

impl<'a> MetricQuestion<'a> {
    pub(super) fn new(
        metric: ComparisonMetric,
        statement: Option<String>,
        pairs: &[Sides<'a>],
        members: &[(usize, &MeasuredPair)],
    ) -> Self {
        let two = |cell: &Cell| cell.base.len().min(cell.new.len()) >= 2;
        let used = || members.iter().filter(|(_, it)| it.is_usable && two(&it.cell));
        let cells: Vec<Cell> = used().map(|(_, it)| it.cell.clone()).collect();
        let mut found = overall(&cells, MIN_REPEATS);
        // If the figures of some configurations are only bounds, the mean over the others would be
        // biased in their favour.
        if members.iter().any(|(_, it)| it.effect.bound.is_some()) {
            found.effect = None;
        }
        let setting = |(pair, _): &(usize, &MeasuredPair)| {
            let PooledConfiguration { configuration, system, .. } = *pairs[*pair].0;
            PairContext { clients: configuration.clients, system, levels: &configuration.levels }
        };
        let settings: Vec<PairContext<'a>> =
            used().filter(|_| found.effect.is_some() || members.len() == 1).map(setting).collect();
        let model = found.fit.clone().filter(|_| found.effect.is_some()).map(|fit| Model {
            fit,
            sides: (0..cells.len()).map(|cell| [2 * cell + 1, 2 * cell]).collect(),
        });
        let interactions = interaction_factors(&settings);
        let interactions = interactions
            .iter()
            .filter_map(|interaction| model.as_ref()?.interaction(interaction, found.share))
            .collect();
        let alone = found.effect.filter(|_| members.len() == 1);
        let tests = members.iter().filter_map(|(pair, it)| {
            let test = it.test?;
            Some((*pair, alone.unwrap_or_else(|| with_runs(&test, &it.cell, found.runs))))
        });
        let not_working = |side: fn(&Sides<'a>) -> &'a PooledConfiguration<'a>| {
            let all = members
                .iter()
                .filter_map(|(pair, _)| side(&pairs[*pair]).eligibility.not_working());
            all.reduce(NotWorking::with)
        };
        Self {
            metric,
            statement,
            members: members.iter().map(|(pair, _)| *pair).collect(),
            tests: tests.collect(),
            settings,
            interactions,
            not_working: [not_working(|it| it.1), not_working(|it| it.0)],
            is_usable: members.iter().any(|(_, it)| it.is_usable),
            found,
        }
    }

    /// The test of the question; for a single configuration, the test of that configuration.
    fn test(&self) -> Option<RatioTest> {
        match (self.members.len(), self.tests.as_slice()) {
            (1, tests) => tests.first().map(|(_, test)| *test),
            _ => self.found.effect,
        }
    }

    pub(super) fn question_tests(&self) -> gate::QuestionTests {
        gate::QuestionTests {
            effect: self.test(),
            pairs: self.tests.iter().map(|(_, test)| *test).collect(),
            interactions: self.interactions.iter().map(|it| it.p.unwrap_or(1.0)).collect(),
        }
    }

    /// The question with its verdict; without `gate`, interactions are omitted.
    pub(super) fn overall(
        &self,
        judgement: Option<Judgement>,
        gate: Option<&QuestionVerdicts>,
        rules: Rules,
    ) -> OverallEffect {
        let test = self.test();
        let [subject_not_working, baseline_not_working] = self.not_working;
        let effect = Effect {
            ratio: test.map(|it| it.ratio),
            subject_not_working,
            baseline_not_working,
            ..Effect::default()
        };
        let open = Some(open_verdict(self.is_usable));
        let effect = judged_effect(effect, self.metric, open, test.zip(judgement));
        let clients: BTreeSet<u32> = self.settings.iter().map(|it| it.clients).collect();
        OverallEffect {
            metric: self.metric,
            statement: self.statement.clone(),
            configurations: as_u32(self.settings.len()),
            clients: clients.into_iter().collect(),
            varied: varied(&self.settings),
            degrees: test.filter(|_| effect.ratio.is_some()).map(|it| it.degrees()),
            between_runs: self.found.runs.map(|runs| runs.variance.max(0.0).sqrt()),
            effect,
            interactions: gate
                .map_or_else(Vec::new, |gate| with_verdicts(&self.interactions, gate, rules)),
        }
    }
}

/// Kinds of statements, by their mean time over all configurations that send them. They detail the
/// results over transactions, so they are judged after these ([`judge_secondary`]).
pub(super) fn statements(
    pairs: &[Sides<'_>],
    judged: &[QuestionVerdicts],
    rules: Rules,
) -> Vec<OverallEffect> {
    let records =
        pairs.iter().flat_map(|(base, new)| [base, new]).flat_map(|side| &side.eligibility.usable);
    let names = records.flat_map(|record| &record.statements).map(|it| it.name.as_str());
    let questions = lists::distinct(names).into_iter().filter_map(|name| {
        let measured_pairs: Vec<(usize, MeasuredPair)> = pairs
            .iter()
            .enumerate()
            .filter_map(|(at, sides)| Some((at, statement(*sides, name)?)))
            .collect();
        let members: Vec<(usize, &MeasuredPair)> =
            measured_pairs.iter().map(|(at, it)| (*at, it)).collect();
        let question =
            MetricQuestion::new(ComparisonMetric::MeanMs, Some(name.to_owned()), pairs, &members);
        question.test().is_some().then_some(question)
    });
    let questions: Vec<MetricQuestion<'_>> = questions.collect();
    let tests: Vec<RatioTest> = questions.iter().filter_map(MetricQuestion::test).collect();
    let judgements = judge_secondary(&tests, judged, rules);
    questions
        .iter()
        .zip(judgements)
        .map(|(it, judgement)| it.overall(Some(judgement), None, rules))
        .collect()
}

/// A kind of statement of a configuration; `None` if a compared trial did not send it, because the
/// remaining trials would not be the same set.
fn statement<'a>((base, new): Sides<'a>, name: &str) -> Option<MeasuredPair> {
    let mean = |record: &&TrialRecord| {
        let of = record.statements.iter().find(|it| it.name == name)?;
        (of.latency.count > 0 && of.latency.mean > 0.0).then_some(of.latency.mean)
    };
    let cell = cell_of(base, new, |side| side.eligibility.usable.iter().map(mean).collect());
    let few = cell.base.len().min(cell.new.len());
    let test = cell.welch().filter(|_| few >= MIN_REPEATS);
    let is_usable = few > 0 && !is_violated(base, new);
    is_usable.then(|| MeasuredPair::new(ComparisonMetric::MeanMs, cell, test, is_usable))
}
