//! Questions of an experiment: for each level of a factor and each system, one effect over all
//! other levels, estimated by a linear mixed model on logarithms ([`crate::stats::mixed`]). Its
//! strata are blocks, server starts within blocks, and data sets within starts.

use crate::estimate::as_u32;
use crate::model::{
    ComparisonOf, Interaction, InteractionWith, LevelRatio, RatioScatter, Scatter, Varied,
};
use crate::pairs::Pair;
use crate::series::level_name;
use crate::stats::compare::{self, RatioTest};
use crate::stats::mixed::{self, Fit, Row};
use crate::stats::strata::{self, GroupedValue};
use crate::stats::within::variance_of_means;
use crate::view::View;
use dyno_model::lists;
use dyno_model::plan::{ComparisonMetric, Plan};
use dyno_model::record::{TrialRecord, is_rate};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of configurations that answer the same question.
pub(crate) struct Group {
    pub(crate) of: ComparisonOf,
    pub(crate) subject: String,
    pub(crate) baseline: String,
    /// Indices of pairs.
    pub(crate) pairs: Vec<usize>,
}

/// Pairs grouped by question, in the order of the pairs.
pub(crate) fn groups(plan: &Plan, pairs: &[Pair]) -> Vec<Group> {
    let with_question = |(index, pair): (usize, &Pair)| {
        let name = |configuration: usize| {
            let configuration = &plan.configurations[configuration];
            match pair.of {
                ComparisonOf::System => plan.systems[configuration.system].name.clone(),
                ComparisonOf::Level { factor } => {
                    level_name(&plan.factors[factor], &configuration.levels[factor])
                }
            }
        };
        ((pair.of.clone(), name(pair.subject), name(pair.baseline)), index)
    };
    let groups = lists::grouped(pairs.iter().enumerate().map(with_question)).into_iter();
    groups.map(|((of, subject, baseline), pairs)| Group { of, subject, baseline, pairs }).collect()
}

/// A pair with the figures of both sides by block, and its test before variances are moderated.
pub(crate) struct Cell<'a> {
    pair: &'a Pair,
    subject: BTreeMap<u32, f64>,
    baseline: BTreeMap<u32, f64>,
    test: RatioTest,
}

impl<'a> Cell<'a> {
    /// `None` with fewer than two blocks that have both sides: the pair's variation is then
    /// unknown.
    pub(crate) fn new(
        pair: &'a Pair,
        subject: BTreeMap<u32, f64>,
        baseline: BTreeMap<u32, f64>,
    ) -> Option<Self> {
        let paired: Vec<(f64, f64)> = subject
            .iter()
            .filter_map(|(block, value)| Some((*value, *baseline.get(block)?)))
            .collect();
        Some(Self { pair, test: compare::paired(&paired)?, subject, baseline })
    }

    /// Variance of its mean difference, with its degrees of freedom.
    fn mean_variance(&self) -> (f64, f64) {
        let (variance, degrees) = self.test.variance();
        (variance / self.test.repeats as f64, degrees)
    }

    /// Blocks with values on both sides.
    fn blocks(&self) -> impl Iterator<Item = u32> {
        self.subject.keys().copied().filter(|block| self.baseline.contains_key(block))
    }
}

/// The answer to a question.
pub(crate) struct Answer {
    pub(crate) test: RatioTest,
    pub(crate) scatter: Option<Scatter>,
    pub(crate) interactions: Vec<Interaction>,
}

/// The answer from several pairs. A pair may lack trials as long as the question has `least`
/// blocks: the model uses the other pairs. `None` without variation or with too few values.
pub(crate) fn answer(
    view: &View<'_>,
    metric: ComparisonMetric,
    cells: &[Cell<'_>],
    least: usize,
) -> Option<Answer> {
    let blocks = cells.iter().flat_map(Cell::blocks).collect::<BTreeSet<_>>().len();
    if cells.len() < 2 || blocks < least {
        return None;
    }
    let configurations: BTreeSet<usize> =
        cells.iter().flat_map(|cell| [cell.pair.subject, cell.pair.baseline]).collect();
    let configurations: Vec<usize> = configurations.into_iter().collect();
    let (rows, strata) = rows(view.plan(), cells, &configurations);
    let number = |configuration: usize| {
        configurations.binary_search(&configuration).expect("those of the cells, sorted")
    };
    let sides: Vec<[usize; 2]> =
        cells.iter().map(|cell| [cell.pair.subject, cell.pair.baseline].map(number)).collect();
    let variances: Vec<(f64, f64)> = cells.iter().map(Cell::mean_variance).collect();
    let all: Vec<usize> = (0..sides.len()).collect();
    let mixed::Effect { fit, contrast, share } =
        mixed::effect(&rows, &weights(&sides, &all), &variances, blocks as f64 - 1.0)?;
    let model = Model { fit, sides };
    let pairs: Vec<&Pair> = cells.iter().map(|cell| cell.pair).collect();
    let interactions = interaction_factors(&settings(view.plan(), &pairs));
    Some(Answer {
        test: RatioTest::of(contrast.estimate, contrast.error, contrast.degrees, blocks)
            .at_interim(view.levels),
        scatter: Some(model.scatter(
            &strata,
            contrast.error,
            within(view, metric, &configurations),
        )),
        interactions: interactions
            .iter()
            .filter_map(|interaction| model.interaction(interaction, share))
            .map(|it| Interaction { p: it.p.map(|p| view.levels.adjusted(p)), ..it })
            .collect(),
    })
}

/// The strata of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stratum {
    Block,
    Start,
    DataSet,
}

/// The values of all configurations with their groups; strata without additional information are
/// left out.
fn rows(plan: &Plan, cells: &[Cell<'_>], configurations: &[usize]) -> (Vec<Row>, Vec<Stratum>) {
    const STRATA: [Stratum; 3] = [Stratum::Block, Stratum::Start, Stratum::DataSet];
    let mut values: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for cell in cells {
        for (configuration, side) in
            [(cell.pair.subject, &cell.subject), (cell.pair.baseline, &cell.baseline)]
        {
            values.extend(side.iter().map(|(block, value)| ((configuration, *block), value.ln())));
        }
    }
    let restart_groups = plan.restart_groups();
    let restart_group = |configuration: usize| {
        restart_groups.iter().position(|(_, members)| members.contains(&configuration))
    };
    // The data that a workload creates and leaves may depend on its options, so each set of options
    // counts as one data set.
    let workload = |configuration: usize| {
        configurations.iter().position(|it| {
            plan.configurations[*it].workload == plan.configurations[configuration].workload
        })
    };
    let placed = |((configuration, block), value): (&(usize, u32), &f64)| GroupedValue {
        value: *value,
        cell: configurations
            .iter()
            .position(|it| it == configuration)
            .expect("values are those of these configurations"),
        groups: vec![
            (*block, None, None),
            (*block, restart_group(*configuration), None),
            (*block, restart_group(*configuration), workload(*configuration)),
        ],
    };
    let (rows, strata) = strata::rows(&values.iter().map(placed).collect::<Vec<_>>());
    (rows, strata.into_iter().map(|at| STRATA[at]).collect())
}

/// The variation of throughput within trials, estimated from their intervals.
fn within(view: &View<'_>, metric: ComparisonMetric, configurations: &[usize]) -> Option<f64> {
    let records =
        configurations.iter().flat_map(|configuration| &view.eligibilities[*configuration].usable);
    let rates = |record: &&TrialRecord| {
        let timeline =
            view.data.trials.get(&record.trial.id).map_or(&[][..], |files| &files.timeline);
        let counted = timeline.iter().filter(|it| !it.is_warmup && is_rate(it.length_s));
        counted.map(|it| it.committed as f64 / it.length_s).collect()
    };
    let trials: Vec<Vec<f64>> = records.map(rates).collect();
    if metric == ComparisonMetric::Throughput { variance_of_means(&trials) } else { None }
}

/// The settings of a pair apart from the compared one.
#[derive(Clone, Copy)]
pub(crate) struct PairContext<'a> {
    pub(crate) clients: u32,
    pub(crate) system: &'a str,
    pub(crate) levels: &'a [String],
}

/// A dimension other than the compared one in which pairs differ: the pairs of each level.
pub(crate) struct InteractionFactor {
    pub(crate) with: InteractionWith,
    levels: Vec<(String, Vec<usize>)>,
}

/// The interaction factors of pairs. The compared level is the same in all pairs, so it is not
/// among them.
pub(crate) fn interaction_factors(pairs: &[PairContext<'_>]) -> Vec<InteractionFactor> {
    let factors = pairs.first().map_or(0, |pair| pair.levels.len());
    let factors = (0..factors).map(|factor| InteractionWith::Level { factor });
    let all = [InteractionWith::Clients, InteractionWith::System].into_iter().chain(factors);
    let interaction = |with: InteractionWith| {
        let level = |pair: &PairContext<'_>| match with {
            InteractionWith::Clients => pair.clients.to_string(),
            InteractionWith::System => pair.system.to_owned(),
            InteractionWith::Level { factor } => pair.levels[factor].clone(),
        };
        InteractionFactor { with, levels: lists::grouped(pairs.iter().map(level).zip(0..)) }
    };
    all.map(interaction).filter(|interaction| interaction.levels.len() > 1).collect()
}

/// The dimensions other than the compared one in which pairs differ.
pub(crate) fn varied(pairs: &[PairContext<'_>]) -> Vec<Varied> {
    let levels = |interaction: InteractionFactor| {
        interaction.levels.into_iter().map(|(name, _)| name).collect()
    };
    interaction_factors(pairs)
        .into_iter()
        .map(|interaction| Varied { what: interaction.with, levels: levels(interaction) })
        .collect()
}

/// The settings of the subjects.
pub(crate) fn settings<'a>(plan: &'a Plan, pairs: &[&Pair]) -> Vec<PairContext<'a>> {
    let setting = |pair: &&Pair| {
        let configuration = &plan.configurations[pair.subject];
        let (clients, levels) = (configuration.clients, configuration.levels.as_slice());
        PairContext { clients, system: &plan.systems[configuration.system].name, levels }
    };
    pairs.iter().map(setting).collect()
}

/// Number of distinct settings apart from the number of clients.
pub(crate) fn mixes(plan: &Plan, group: &Group, pairs: &[&Pair]) -> u32 {
    let besides = |pair: &&Pair| {
        let configuration = &plan.configurations[pair.subject];
        let levels = configuration.levels.iter().enumerate();
        let others =
            levels.filter(|(factor, _)| group.of != ComparisonOf::Level { factor: *factor });
        let system = (group.of != ComparisonOf::System).then_some(configuration.system);
        (system, others.map(|(_, level)| level.clone()).collect::<Vec<_>>())
    };
    as_u32(pairs.iter().map(besides).collect::<BTreeSet<_>>().len())
}

/// A fitted question.
pub(crate) struct Model {
    pub(crate) fit: Fit,
    /// For each pair, the indices of subject and baseline among the means of the fit.
    pub(crate) sides: Vec<[usize; 2]>,
}

/// Weights of the means for the mean effect over some pairs, given by index.
fn weights(sides: &[[usize; 2]], pairs: &[usize]) -> Vec<f64> {
    let means = sides.iter().flatten().max().map_or(0, |last| last + 1);
    let mut weights = vec![0.0; means];
    let share = 1.0 / pairs.len() as f64;
    for [subject, baseline] in pairs.iter().map(|pair| sides[*pair]) {
        weights[subject] += share;
        weights[baseline] -= share;
    }
    weights
}

impl Model {
    /// Weights of the means for the mean effect over all pairs.
    pub(crate) fn effect_weights(&self) -> Vec<f64> {
        weights(&self.sides, &(0..self.sides.len()).collect::<Vec<_>>())
    }

    /// The sources of variation; `error` is the standard error of the answer.
    fn scatter(&self, strata: &[Stratum], error: f64, within: Option<f64>) -> Scatter {
        let index = |wanted: Stratum| strata.iter().position(|stratum| *stratum == wanted);
        let variance = |wanted: Stratum| index(wanted).map(|at| self.fit.variances()[at]);
        let trials = self.fit.variances()[strata.len()];
        // By chance, trials may vary less than their seconds suggest.
        let within = within.map(|within| within.min(trials));
        let components = self.fit.variance_components(&self.effect_weights());
        let of = |wanted: Stratum| index(wanted).map(|at| components[at]);
        let (starts, data_sets, of_trials) =
            (of(Stratum::Start), of(Stratum::DataSet), components[strata.len()]);
        let all = of_trials + starts.unwrap_or_default() + data_sets.unwrap_or_default();
        let inside = within.map(|within| of_trials * within / trials);
        Scatter {
            blocks: variance(Stratum::Block),
            starts: variance(Stratum::Start),
            data_sets: variance(Stratum::DataSet),
            trials,
            within,
            ratio: Some(RatioScatter {
                error,
                starts: starts.map(|it| it / all),
                data_sets: data_sets.map(|it| it / all),
                trials: (of_trials - inside.unwrap_or_default()) / all,
                within: inside.map(|it| it / all),
            }),
        }
    }

    /// Tests whether the effect differs between levels; `share` is the fraction of the model's
    /// degrees of freedom that is used.
    pub(crate) fn interaction(
        &self,
        interaction: &InteractionFactor,
        share: f64,
    ) -> Option<Interaction> {
        let effects: Vec<Vec<f64>> =
            interaction.levels.iter().map(|(_, pairs)| weights(&self.sides, pairs)).collect();
        let mean =
            |at: usize| effects.iter().map(|effect| effect[at]).sum::<f64>() / effects.len() as f64;
        let apart: Vec<Vec<f64>> = effects
            .iter()
            .map(|effect| effect.iter().enumerate().map(|(at, weight)| weight - mean(at)).collect())
            .collect();
        let test = self.fit.joint(&apart);
        let test =
            test.map(|test| mixed::JointTest { denominator: test.denominator * share, ..test });
        let ratio = |(name, _): &(String, Vec<usize>), effect: &Vec<f64>| {
            Some(LevelRatio {
                level: name.clone(),
                ratio: self.fit.contrast(effect)?.estimate.exp(),
            })
        };
        let ratios =
            interaction.levels.iter().zip(&effects).map(|(level, effect)| ratio(level, effect));
        let ratios: Vec<LevelRatio> = ratios.collect::<Option<_>>()?;
        let by_ratio = |a: &&LevelRatio, b: &&LevelRatio| a.ratio.total_cmp(&b.ratio);
        Some(Interaction {
            with: interaction.with,
            p: test.map(|test| test.p()),
            p_corrected: None,
            depends: false,
            low: ratios.iter().min_by(by_ratio)?.clone(),
            high: ratios.iter().max_by(by_ratio)?.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
