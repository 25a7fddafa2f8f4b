//! Several metrics of the same trials, the primary one first: how often a report is wrong, and what
//! it finds.

use crate::{Random, is_reported, out, tests_of};
use dyno_analysis::stats::gate::{self, QuestionTests, QuestionVerdicts};
use dyno_analysis::stats::group_sequential::{FIRST_INTERIM, Levels};
use dyno_analysis::stats::verdict::{Rules, benjamini_hochberg, holm};

/// Reports about systems against a first one.
#[derive(Clone, Copy)]
struct Reports {
    systems: usize,
    blocks: usize,
    pairs: usize,
    /// How much of a trial's scatter its metrics share.
    shared: f64,
    /// Logarithm of what the second system has beside the first, by metric; further systems are
    /// like the first.
    effects: [f64; 2],
    /// Standard deviation of the logarithms of trials.
    scatter: f64,
}

/// Values of a metric by cell, system and block.
type Values = Vec<Vec<Vec<f64>>>;

pub(crate) fn in_sequence(random: &mut Random, reports: usize) {
    out(
        "\n## Two metrics, six numbers of clients, starts of their own, trials scatter by 6 %: % of reports that answer a true difference on the primary metric (before, now), on the other (before, now), % with a false verdict (before, now, now with looks after each block)",
    );
    out(
        "| systems | blocks | shared | primary | other | primary, before | now | other, before | now | false, before | now | with looks |",
    );
    out("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (systems, all_blocks) in [(2, vec![3, 5, 10]), (4, vec![5])] {
        for blocks in all_blocks {
            for shared in [0.0, 0.9] {
                for percent in [[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 30.0]] {
                    let effects = percent.map(|it| f64::ln_1p(it / 100.0));
                    let of = Reports { systems, blocks, pairs: 6, shared, effects, scatter: 0.06 };
                    let mut sums = [0.0; 7];
                    let interim_analyses: Vec<Levels> = (FIRST_INTERIM..=blocks as u32)
                        .map(|block| Levels::after(block, blocks as u32, false))
                        .collect();
                    for _ in 0..reports {
                        let one =
                            of.one(random, &interim_analyses).map(|it| f64::from(u8::from(it)));
                        sums.iter_mut().zip(one).for_each(|(sum, it)| *sum += it);
                    }
                    let shown = |at: usize| match percent[(at / 2).min(1)] == 0.0 && at < 4 {
                        true => "-".to_owned(),
                        false => format!("{:.1}", 100.0 * sums[at] / reports as f64),
                    };
                    let shares = (0..7).map(shown).collect::<Vec<_>>().join(" | ");
                    let [primary, other] = percent;
                    out(&format!(
                        "| {systems} | {blocks} | {shared} | {primary} % | {other} % | {shares} |"
                    ));
                }
            }
        }
    }
}

impl Reports {
    fn one(self, random: &mut Random, interim_analyses: &[Levels]) -> [bool; 7] {
        let metrics = self.values(random);
        let known = self.known(&metrics, self.blocks, Levels::ONCE);
        let (before, now) =
            (before(&known), gate::judge(&known, gate::EFFECT_SHARE_IN_REPORT, Rules::default()));
        let answers = |metric: usize| {
            [before[0][metric].0, now[0][metric].effect.as_ref().is_some_and(is_reported)]
        };
        let is_false = |judged: &[Vec<QuestionVerdicts>]| {
            self.is_false(|system, metric| {
                let it = &judged[system][metric];
                it.effect.iter().chain(&it.pairs).any(is_reported)
            })
        };
        // The first interim analysis that decides all primary questions ends the run.
        let at_interim = |(at, levels): (usize, &Levels)| {
            let known = self.known(&metrics, FIRST_INTERIM as usize + at, *levels);
            gate::judge(&known, gate::EFFECT_SHARE_IN_REPORT, Rules::default())
        };
        let is_last = |judged: &Vec<Vec<QuestionVerdicts>>| {
            judged.iter().all(|it| it[0].effect.as_ref().is_some_and(is_reported))
        };
        let mut looked = interim_analyses.iter().enumerate().map(at_interim).peekable();
        let mut last = looked.next();
        while let Some(next) = looked.next_if(|_| !last.as_ref().is_some_and(is_last)) {
            last = Some(next);
        }
        let [[a, b], [c, d]] = [answers(0), answers(1)];
        let was_false = self.is_false(|system, metric| before[system][metric].1);
        [a, b, c, d, was_false, is_false(&now), last.is_some_and(|it| is_false(&it))]
    }

    /// Whether a difference is reported where there is none.
    fn is_false(self, is_reported: impl Fn(usize, usize) -> bool) -> bool {
        let effects_of_metrics =
            (0..self.systems - 1).flat_map(|system| (0..2).map(move |metric| (system, metric)));
        let null = |(system, metric): &(usize, usize)| *system > 0 || self.effects[*metric] == 0.0;
        effects_of_metrics.filter(null).any(|(system, metric)| is_reported(system, metric))
    }

    /// The questions after some blocks: of each system its metrics.
    fn known(
        self,
        metrics: &[Values; 2],
        blocks: usize,
        levels: Levels,
    ) -> Vec<Vec<QuestionTests>> {
        let of_metric = |values: &Values| {
            let until = |values: &Vec<f64>| values[..blocks].to_vec();
            let values: Values =
                values.iter().map(|cell| cell.iter().map(until).collect()).collect();
            tests_of(&values, self.systems - 1, true).0
        };
        let [primary, other] = metrics.each_ref().map(of_metric);
        let at_interim = |tests: QuestionTests| QuestionTests {
            effect: tests.effect.map(|test| test.at_interim(levels)),
            pairs: tests.pairs.into_iter().map(|test| test.at_interim(levels)).collect(),
            ..tests
        };
        primary
            .into_iter()
            .zip(other)
            .map(|(one, two)| [one, two].map(at_interim).to_vec())
            .collect()
    }

    fn values(self, random: &mut Random) -> [Values; 2] {
        let mut metrics: [Values; 2] = Default::default();
        for _ in 0..self.pairs {
            let mut cell = [(); 2].map(|()| vec![vec![0.0; self.blocks]; self.systems]);
            // Both metrics of a trial share what is common to them.
            for (system, block) in
                (0..self.systems).flat_map(|it| (0..self.blocks).map(move |block| (it, block)))
            {
                let common = self.shared.sqrt() * random.normal();
                for (metric, effect) in self.effects.iter().enumerate() {
                    let own = common + (1.0 - self.shared).sqrt() * random.normal();
                    let truth = if system == 1 { *effect } else { 0.0 };
                    cell[metric][system][block] = truth + self.scatter * own;
                }
            }
            metrics.iter_mut().zip(cell).for_each(|(metric, cell)| metric.push(cell));
        }
        metrics
    }
}

/// Earlier versions of dyno: Holm's procedure over all metrics of all questions, weights 4 and 1.
/// For each question and metric: whether its effect was reported, and whether anything was.
fn before(known: &[Vec<QuestionTests>]) -> Vec<Vec<(bool, bool)>> {
    let tests = || known.iter().flatten();
    let pairs = |it: &QuestionTests| {
        benjamini_hochberg(&it.pairs.iter().map(|test| test.p).collect::<Vec<_>>())
    };
    let any_cell = |it: &QuestionTests| pairs(it).into_iter().fold(1.0, f64::min);
    let hypotheses: Vec<(f64, f64)> = tests()
        .flat_map(|it| [(it.effect.map_or(1.0, |test| test.p), 4.0), (any_cell(it), 1.0)])
        .collect();
    let corrected = holm(&hypotheses, 0.05);
    let open: Vec<[bool; 2]> =
        corrected.chunks(2).map(|it| [it[0].p < 0.05, it[1].p < 0.05]).collect();
    let share = open.iter().filter(|it| it.contains(&true)).count() as f64 / open.len() as f64;
    let reported = |(it, open): (&QuestionTests, &[bool; 2])| {
        let is_open = open.contains(&true);
        (open[0], open[0] || is_open && pairs(it).iter().any(|p| *p < 0.05 * share))
    };
    let all: Vec<(bool, bool)> = tests().zip(&open).map(reported).collect();
    all.chunks(2).map(<[_]>::to_vec).collect()
}
