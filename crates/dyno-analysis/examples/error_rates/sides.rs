//! Two sides of runs: how often pages of `dyno compare` are wrong, and what they find.

use crate::{MIN_REPEATS, Random, is_reported, out};
use dyno_analysis::stats::compare::RatioTest;
use dyno_analysis::stats::gate::{self, QuestionTests};
use dyno_analysis::stats::sides::{Cell, Origin, overall, with_runs};
use dyno_analysis::stats::verdict::{self, Rules};

/// Metrics of a page of `dyno compare`, and how much of a trial's scatter they share.
const METRICS: usize = 5;
const SHARED: f64 = 0.9;

/// Two sides of runs as `dyno compare` judges them.
#[derive(Clone, Copy)]
struct TwoSides {
    /// Runs of base and of new, and blocks of each run.
    runs: [usize; 2],
    blocks: u32,
    configurations: usize,
    /// Standard deviations of logarithms: between runs; of trials, times a lognormal factor for
    /// each configuration.
    between: f64,
    spread: f64,
    /// What new is longer by, in so many of the configurations.
    effect: f64,
    changed: usize,
}

/// `dyno compare` before (Welch's test of each configuration and metric, all corrected together)
/// and now: how often pages are wrong, and what they find.
pub(crate) fn two_sides(random: &mut Random, reports: usize) {
    out(&format!(
        "\n## Two sides, {METRICS} metrics, trials scatter by 4 %: % of pages with a false verdict (before; now over all configurations, any) | 5 % in all configurations: % found (configurations before, over all, configurations) | 20 % in one configuration: % found (before, now)"
    ));
    out(
        "| runs | blocks | configurations | between runs | spread | before | over all | any | before | over all | configurations | one before | one now |",
    );
    out("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (runs, blocks) in
        [([1, 1], 3), ([1, 1], 5), ([1, 1], 10), ([5, 3], 1), ([3, 3], 3), ([2, 2], 5), ([4, 2], 3)]
    {
        for configurations in [1, 6, 12] {
            for (between, spread) in [(0.0, 0.0), (0.0, 1.0), (0.03, 0.0), (0.03, 0.5)] {
                // What runs differ in is in the change where each side has one: no test can tell.
                if between > 0.0 && runs == [1, 1] {
                    continue;
                }
                let truth = TwoSides {
                    runs,
                    blocks,
                    configurations,
                    between,
                    spread,
                    effect: 0.0,
                    changed: 0,
                };
                let mut sums = [0.0; 8];
                for _ in 0..reports {
                    let [before, overall, now] = truth.found(random);
                    let any = |it: &[bool]| f64::from(u8::from(it.contains(&true)));
                    sums[0] += any(&before);
                    sums[1] += any(&overall);
                    sums[2] += any(&[overall, now].concat());
                    let share = |it: &[bool]| {
                        it.iter().filter(|it| **it).count() as f64 / it.len().max(1) as f64
                    };
                    let all =
                        TwoSides { effect: 0.05_f64.ln_1p(), changed: configurations, ..truth };
                    let [before, overall, now] = all.found(random);
                    sums[3] += share(&before);
                    sums[4] += share(&overall);
                    sums[5] += share(&now);
                    let one = TwoSides { effect: 0.2_f64.ln_1p(), changed: 1, ..truth };
                    let [before, _, now] = one.found(random);
                    sums[6] += share(&before[..METRICS]);
                    sums[7] += share(&now[..METRICS]);
                }
                let shares: Vec<String> =
                    sums.iter().map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).collect();
                let runs = format!("{} and {}", runs[0], runs[1]);
                out(&format!(
                    "| {runs} | {blocks} | {configurations} | {} % | {spread} | {} |",
                    100.0 * between,
                    shares.join(" | ")
                ));
            }
        }
    }
}

impl TwoSides {
    /// What is told: each configuration and metric as it was before (metrics of the first
    /// configuration first), metrics over all configurations, each configuration and metric now.
    fn found(self, random: &mut Random) -> [Vec<bool>; 3] {
        let metrics = self.pairs(random);
        let tests: Vec<Vec<Option<RatioTest>>> =
            metrics.iter().map(|pairs| pairs.iter().map(Cell::welch).collect()).collect();
        let enough = |cell: &Cell| cell.base.len().min(cell.new.len()) >= MIN_REPEATS;
        let of_configurations = |it: &dyn Fn(usize, usize) -> bool| -> Vec<bool> {
            let pairs_of_indexes = (0..self.configurations)
                .flat_map(|at| (0..METRICS).map(move |metric| (metric, at)));
            pairs_of_indexes.map(|(metric, at)| it(metric, at)).collect()
        };
        let tested =
            |metric: usize, at: usize| tests[metric][at].filter(|_| enough(&metrics[metric][at]));
        let all: Vec<RatioTest> = (0..METRICS)
            .flat_map(|metric| (0..self.configurations).map(move |at| (metric, at)))
            .filter_map(|(metric, at)| tested(metric, at))
            .collect();
        let before = verdict::judge(&all, Rules::default());
        let before = of_configurations(&|metric, at| {
            before.get(metric * self.configurations + at).is_some_and(is_reported)
        });
        let questions: Vec<QuestionTests> = metrics
            .iter()
            .enumerate()
            .map(|(metric, pairs)| {
                let found = overall(pairs, MIN_REPEATS);
                let tests: Vec<RatioTest> = (0..self.configurations)
                    .filter_map(|at| Some(with_runs(&tested(metric, at)?, &pairs[at], found.runs)))
                    .collect();
                let one = tests.first().copied().filter(|_| self.configurations == 1);
                let effect = found.effect.or(one);
                QuestionTests { effect, pairs: tests, interactions: Vec::new() }
            })
            .collect();
        let judged =
            gate::judge(&[questions], gate::EFFECT_SHARE_OF_SIDES, Rules::default()).remove(0);
        let now =
            of_configurations(&|metric, at| judged[metric].pairs.get(at).is_some_and(is_reported));
        [before, judged.iter().map(|it| it.effect.as_ref().is_some_and(is_reported)).collect(), now]
    }

    /// Configurations by metric. All metrics of a trial share most of their scatter.
    fn pairs(self, random: &mut Random) -> Vec<Vec<Cell>> {
        let deviations: Vec<f64> = (0..self.configurations)
            .map(|_| 0.04 * (self.spread * random.normal()).exp())
            .collect();
        let mut metrics = vec![vec![Cell::default(); self.configurations]; METRICS];
        for (side, runs) in self.runs.into_iter().enumerate() {
            for run in 0..runs {
                let of_run = self.between * random.normal();
                for block in 1..=self.blocks {
                    for (at, deviation) in deviations.iter().enumerate() {
                        let truth = if side == 1 && at < self.changed { self.effect } else { 0.0 };
                        let shared = SHARED.sqrt() * random.normal();
                        for metric in &mut metrics {
                            let own = shared + (1.0 - SHARED).sqrt() * random.normal();
                            let value = (truth + of_run + deviation * own).exp();
                            let origin = Origin { run, block, start: 0, data_set: 0 };
                            let cell = &mut metric[at];
                            if side == 0 { &mut cell.base } else { &mut cell.new }
                                .push((origin, value));
                        }
                    }
                }
            }
        }
        metrics
    }
}
