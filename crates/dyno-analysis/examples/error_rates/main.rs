//! How often reports are wrong, and how often they find what is there: the tables of
//! docs/statistics.md.
//!
//! ```text
//! cargo run --release -p dyno-analysis --example error_rates -- [REPORTS [TABLE]]
//! ```
//! TABLE is `sequence`, `interim`, `missing`, `sides` or `limits`.
//! simulates experiments with known truths, and judges them by the code that reports are judged by.
//! A cell is a pair of configurations in some blocks; its paired logarithms scatter by 6 %, times a
//! lognormal factor of its own.

mod limits;
mod sequence;
mod sides;

use dyno_analysis::stats::compare::{DecisionCriteria, RatioTest, paired};
use dyno_analysis::stats::gate::{self, QuestionTests};
use dyno_analysis::stats::group_sequential::{FIRST_INTERIM, Levels};
use dyno_analysis::stats::mixed::{self, Row};
use dyno_analysis::stats::moderated::{LOG_LIKELIHOOD_DROP, Prior, moderated};
use dyno_analysis::stats::verdict::{Decision, Judgement, Rules, benjamini_hochberg};
use std::collections::BTreeSet;
use std::f64::consts::TAU;

const BLOCKS: [usize; 3] = [3, 5, 10];
const CELLS: [usize; 3] = [6, 12, 24];
/// Standard deviation of the logarithms of cells' scatters.
const SPREADS: [f64; 3] = [0.0, 0.5, 1.0];
const SCATTER: f64 = 0.06;
/// As the report has it.
const MIN_REPEATS: usize = 3;

fn main() {
    let reports = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(2000);
    let mut random = Random(1);
    let alone = std::env::args().nth(2);
    let is_wanted = |table: &str| alone.as_deref().is_none_or(|it| it == table);
    if alone.is_none() {
        cells_alone(&mut random, reports);
        whole_reports(&mut random, reports);
        power(&mut random, reports);
    }
    // These have numbers of their own, so that each can be made alone.
    if is_wanted("interim") {
        until_decided(&mut Random(2), reports);
    }
    if is_wanted("missing") {
        trials_missing(&mut Random(3), reports);
    }
    if is_wanted("sequence") {
        sequence::in_sequence(&mut Random(5), reports);
    }
    if is_wanted("limits") {
        limits::at_the_limit(&mut Random(6), reports);
    }
    if is_wanted("sides") {
        sides::two_sides(&mut Random(4), reports);
    }
}

/// Sebastiano Vigna's SplitMix64 (public domain, <https://prng.di.unimi.it/splitmix64.c>).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// Cells by themselves: no questions before them.
fn cells_alone(random: &mut Random, reports: usize) {
    out(
        "\n## Cells alone (Benjamini and Hochberg), % of reports with a false verdict | % of 12 % differences in half of the cells found",
    );
    out(
        "| spread | blocks | cells | t | ML prior | dyno's prior | pooled | t | ML prior | dyno's prior | pooled |",
    );
    out("|---|---|---|---|---|---|---|---|---|---|---|");
    for (spread, blocks, pairs) in grid() {
        let mut sums = [0.0; 8];
        for half in 0..2 {
            for _ in 0..reports {
                let differs = |cell: usize| half == 1 && cell < pairs / 2;
                let tests: Vec<RatioTest> = (0..pairs)
                    .map(|cell| {
                        test(&logarithms(
                            random,
                            if differs(cell) { 0.12_f64.ln_1p() } else { 0.0 },
                            spread,
                            blocks,
                        ))
                    })
                    .collect();
                let ways = [
                    tests.clone(),
                    with(&tests, Prior::within(&variances(&tests), 0.0)),
                    moderated(&tests),
                    with(&tests, pooled(&tests)),
                ];
                for (way, tests) in ways.iter().enumerate() {
                    let p =
                        benjamini_hochberg(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
                    sums[4 * half + way] += match half {
                        0 => f64::from(u8::from(p.iter().any(|p| *p < 0.05))),
                        _ => {
                            p[..pairs / 2].iter().filter(|p| **p < 0.05).count() as f64
                                / (pairs / 2) as f64
                        }
                    };
                }
            }
        }
        line(spread, blocks, pairs, &sums.map(|sum| sum / reports as f64));
    }
    out(&format!(
        "dyno's prior: the logarithm of the likelihood may lie {LOG_LIKELIHOOD_DROP} below its maximum."
    ));
}

fn variances(tests: &[RatioTest]) -> Vec<(f64, f64)> {
    tests.iter().map(RatioTest::variance).collect()
}

fn pooled(tests: &[RatioTest]) -> Option<Prior> {
    let all = variances(tests);
    let variance = all.iter().map(|(variance, _)| variance).sum::<f64>() / all.len() as f64;
    Some(Prior { variance, degrees: f64::INFINITY })
}

fn with(tests: &[RatioTest], prior: Option<Prior>) -> Vec<RatioTest> {
    let all = variances(tests).iter().map(|(_, degrees)| degrees).sum();
    let one = |test: &RatioTest| match prior {
        None => *test,
        Some(prior) => {
            let (variance, degrees) = test.variance();
            let (variance, degrees) = prior.moderate(variance, degrees, all);
            test.with_variance(variance, degrees)
        }
    };
    tests.iter().map(one).collect()
}

/// Reports as dyno makes them: two questions (the levels of a factor against its first), each with
/// half of the cells; first a factor inside starts, then a setting, where whole starts scatter by 3
/// %, too.
fn whole_reports(random: &mut Random, reports: usize) {
    out(
        "\n## Whole reports with two questions, nothing differs: % with any verdict (questions, all)",
    );
    out(
        "| spread | blocks | cells | inside a start: questions | all | between starts: questions | all |",
    );
    out("|---|---|---|---|---|---|---|");
    for (spread, blocks, pairs) in grid() {
        let mut sums = [0.0; 4];
        for (at, starts) in [0.0, 0.03].into_iter().enumerate() {
            for _ in 0..reports {
                let (questions, _) = report(
                    random,
                    2,
                    pairs / 2,
                    blocks,
                    Truth { effect: 0.0, spread, scatter: SCATTER, starts, missing: 0.0 },
                );
                let judged = judged_alone(&questions);
                let any_question =
                    judged.iter().any(|it| it.effect.as_ref().is_some_and(is_reported));
                let any = any_question || judged.iter().any(|it| it.pairs.iter().any(is_reported));
                sums[2 * at] += f64::from(u8::from(any_question));
                sums[2 * at + 1] += f64::from(u8::from(any));
            }
        }
        line(spread, blocks, pairs, &sums.map(|sum| sum / reports as f64));
    }
}

/// The same where trials are missing by chance, and a difference of 5 % at 2 % scatter of a trial:
/// how often it is found, now and when only pairs with three blocks count.
fn trials_missing(random: &mut Random, reports: usize) {
    out(
        "\n## Two questions, a share of trials missing: % with any verdict when nothing differs (inside, settings), % that answer 5 % (now, whole pairs only)",
    );
    out(
        "| missing | spread | blocks | cells | inside | settings | answered | by whole pairs only |",
    );
    out("|---|---|---|---|---|---|---|---|");
    for (missing, (spread, blocks, pairs)) in
        [0.1, 0.25].into_iter().flat_map(|missing| grid().map(move |it| (missing, it)))
    {
        let mut sums = [0.0; 4];
        for _ in 0..reports {
            let nothing = |starts| Truth { effect: 0.0, spread, scatter: SCATTER, starts, missing };
            for (at, starts) in [0.0, 0.03].into_iter().enumerate() {
                let (questions, _) = report(random, 2, pairs / 2, blocks, nothing(starts));
                let judged = judged_alone(&questions);
                let of = |it: &gate::QuestionVerdicts| {
                    it.effect.as_ref().is_some_and(is_reported) || it.pairs.iter().any(is_reported)
                };
                sums[at] += f64::from(u8::from(judged.iter().any(of)));
            }
            let scatter = 0.02 * 2_f64.sqrt();
            let truth = Truth { effect: 0.05_f64.ln_1p(), spread, scatter, starts: 0.0, missing };
            let values = truth.values(random, 1, pairs / 2, blocks);
            for (at, least) in [2, MIN_REPEATS].into_iter().enumerate() {
                let question = question(&values, 1, false, least);
                let judged = judged_alone(&[question]).remove(0);
                sums[2 + at] +=
                    f64::from(u8::from(judged.effect.as_ref().is_some_and(is_reported)));
            }
        }
        let shares: Vec<String> =
            sums.iter().map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).collect();
        out(&format!(
            "| {} % | {spread} | {blocks} | {pairs} | {} |",
            100.0 * missing,
            shares.join(" | ")
        ));
    }
}

/// A difference of 5 % in all cells: how often it is found, and how often the answer is
/// "equivalent" when there is none.
fn power(random: &mut Random, reports: usize) {
    out(
        "\n## 5 % in all six cells of one question, 3 blocks: % of reports that answer it, % of cells found, % of cells found by t per cell alone",
    );
    out(
        "| scatter of a trial | question | cells | t per cell (before) | equivalent, when nothing differs |",
    );
    out("|---|---|---|---|---|");
    for scatter in [0.01, 0.02, 0.03, 0.04] {
        let mut sums = [0.0; 4];
        for _ in 0..reports {
            // Two trials make a pair.
            let of_pair = scatter * 2_f64.sqrt();
            let truth =
                |effect| Truth { effect, spread: 0.0, scatter: of_pair, starts: 0.0, missing: 0.0 };
            let (questions, raw) = report(random, 1, 6, 3, truth(0.05_f64.ln_1p()));
            let judged = judged_alone(&questions).remove(0);
            sums[0] += f64::from(u8::from(judged.effect.as_ref().is_some_and(is_reported)));
            sums[1] += judged.pairs.iter().filter(|it| is_reported(it)).count() as f64 / 6.0;
            let p = benjamini_hochberg(&raw.iter().map(|test| test.p).collect::<Vec<_>>());
            sums[2] += p.iter().filter(|p| **p < 0.05).count() as f64 / 6.0;
            let (questions, _) = report(random, 1, 6, 3, truth(0.0));
            let judged = judged_alone(&questions).remove(0);
            let is_equivalent = judged.effect.is_some_and(|it| it.decision == Decision::Equivalent);
            sums[3] += f64::from(u8::from(is_equivalent));
        }
        let percent = sums.map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).join(" | ");
        out(&format!("| {} % | {percent} |", 100.0 * scatter));
    }
}

/// Blocks until the question is decided, against as many as were planned: one question over four
/// cells, a factor inside starts, or a setting whose starts scatter half as much as its trials.
fn until_decided(random: &mut Random, reports: usize) {
    out(
        "\n## One question of four cells, blocks until it is decided against a fixed number: % of reports and mean number of blocks",
    );
    out(
        "| question | most blocks | scatter | effect | different | fixed | equivalent | fixed | hopeless | blocks |",
    );
    out("|---|---|---|---|---|---|---|---|---|---|");
    for (name, has_starts) in [("inside", false), ("setting", true)] {
        for most in [10_u32, 20] {
            let interim_analyses: Vec<Levels> =
                (FIRST_INTERIM..=most).map(|block| Levels::after(block, most, false)).collect();
            for (scatter, effect) in [0.03, 0.06, 0.1]
                .into_iter()
                .flat_map(|it| [0.0, 0.05, 0.1].map(|effect| (it, effect)))
            {
                let mut sums = [0.0; 6];
                for _ in 0..reports {
                    let values =
                        levels_of(random, most as usize, f64::ln_1p(effect), scatter, has_starts);
                    let one = until_this_is_decided(&values, most, &interim_analyses, has_starts);
                    sums.iter_mut().zip(one).for_each(|(sum, it)| *sum += it);
                }
                let (last, shares) = sums.split_last().expect("six");
                let shares: Vec<String> = shares
                    .iter()
                    .map(|sum| format!("{:.1}", 100.0 * sum / reports as f64))
                    .collect();
                out(&format!(
                    "| {name} | {most} | {} % | {} % | {} | {:.1} |",
                    100.0 * scatter,
                    100.0 * effect,
                    shares.join(" | "),
                    last / reports as f64
                ));
            }
        }
    }
}

/// Whether the question is found different by looks and with all blocks, equivalent likewise, given
/// up as hopeless; and the number of blocks.
fn until_this_is_decided(
    values: &[Vec<Vec<f64>>],
    most: u32,
    interim_analyses: &[Levels],
    has_starts: bool,
) -> [f64; 6] {
    let rules = Rules::default();
    let is = |it: bool| f64::from(u8::from(it));
    let fixed = judged(values, most, Levels::ONCE, has_starts).0;
    for (block, levels) in (FIRST_INTERIM..=most).zip(interim_analyses) {
        let (judgement, test) = judged(values, block, *levels, has_starts);
        let criteria =
            DecisionCriteria { risk: judgement.risk, alpha: rules.alpha, margin: rules.margin };
        let is_open = judgement.decision == Decision::Inconclusive;
        let is_hopeless = is_open
            && block < most
            && test.decision_probability(f64::from(block) / f64::from(most), criteria) < 0.1;
        if is_open && !is_hopeless && block < most {
            continue;
        }
        let is_equivalent = |it: &Judgement| it.decision == Decision::Equivalent;
        return [
            is(is_reported(&judgement)),
            is(is_reported(&fixed)),
            is(is_equivalent(&judgement)),
            is(is_equivalent(&fixed)),
            is(is_hopeless),
            f64::from(block),
        ];
    }
    unreachable!("the last look is after all blocks")
}

/// Values of two levels in four cells, by cell, level and block.
fn levels_of(
    random: &mut Random,
    blocks: usize,
    effect: f64,
    scatter: f64,
    has_starts: bool,
) -> Vec<Vec<Vec<f64>>> {
    let of_pair = scatter / 2_f64.sqrt();
    let of_start = if has_starts { of_pair / 2.0 } else { 0.0 };
    let draws =
        [(); 2].map(|()| (0..blocks).map(|_| of_start * random.normal()).collect::<Vec<_>>());
    let mut level = |level: usize| {
        let truth = if level > 0 { effect } else { 0.0 };
        draws[level].iter().map(|draw| truth + draw + of_pair * random.normal()).collect::<Vec<_>>()
    };
    (0..4).map(|_| vec![level(0), level(1)]).collect()
}

/// The question after some blocks, as the report judges it.
fn judged(
    values: &[Vec<Vec<f64>>],
    blocks: u32,
    levels: Levels,
    has_starts: bool,
) -> (Judgement, RatioTest) {
    let until = |values: &Vec<f64>| values[..blocks as usize].to_vec();
    let values: Vec<Vec<Vec<f64>>> =
        values.iter().map(|levels| levels.iter().map(until).collect()).collect();
    let raw: Vec<RatioTest> =
        values.iter().map(|cell| test(&differences(&cell[1], &cell[0]))).collect();
    let effect = effect_over(&values.iter().collect::<Vec<_>>(), 1, has_starts)
        .expect("it scatters")
        .at_interim(levels);
    let pairs = moderated(&raw).into_iter().map(|test| test.at_interim(levels)).collect();
    let question = QuestionTests { effect: Some(effect), pairs, interactions: Vec::new() };
    (judged_alone(&[question]).remove(0).effect.expect("it was tested"), effect)
}

/// What an experiment measures.
#[derive(Clone, Copy)]
struct Truth {
    /// Logarithm of what every level has beside the first.
    effect: f64,
    /// Of the logarithms of cells' scatters.
    spread: f64,
    /// Of paired logarithms.
    scatter: f64,
    /// Of a level's start, which all its cells share.
    starts: f64,
    /// Share of trials that are missing.
    missing: f64,
}

impl Truth {
    /// Values by cell, level (the first is the baseline) and block; NaN where a trial is missing.
    fn values(
        self,
        random: &mut Random,
        levels: usize,
        pairs: usize,
        blocks: usize,
    ) -> Vec<Vec<Vec<f64>>> {
        let deviations: Vec<f64> = (0..pairs)
            .map(|_| self.scatter / 2_f64.sqrt() * (self.spread * random.normal()).exp())
            .collect();
        let draws: Vec<Vec<f64>> = (0..=levels)
            .map(|_| (0..blocks).map(|_| self.starts * random.normal()).collect())
            .collect();
        let mut values: Vec<Vec<Vec<f64>>> = Vec::new();
        for deviation in deviations {
            let level = |level: usize| {
                let truth = if level > 0 { self.effect } else { 0.0 };
                draws[level].iter().map(|draw| truth + draw + deviation * random.normal()).collect()
            };
            values.push((0..=levels).map(level).collect());
        }
        if self.missing > 0.0 {
            let all = values.iter_mut().flatten().flatten();
            all.for_each(|value| {
                *value = if random.uniform() < self.missing { f64::NAN } else { *value }
            });
        }
        values
    }
}

/// Questions of one metric each, judged together.
fn judged_alone(questions: &[QuestionTests]) -> Vec<gate::QuestionVerdicts> {
    let each: Vec<Vec<QuestionTests>> = questions.iter().map(|it| vec![it.clone()]).collect();
    gate::judge(&each, gate::EFFECT_SHARE_IN_REPORT, Rules::default()).concat()
}

/// Questions about some levels against a first one, and the cells' tests before they borrow
/// strength.
fn report(
    random: &mut Random,
    levels: usize,
    pairs: usize,
    blocks: usize,
    truth: Truth,
) -> (Vec<QuestionTests>, Vec<RatioTest>) {
    tests_of(&truth.values(random, levels, pairs, blocks), levels, truth.starts > 0.0)
}

/// The same of values by cell, level and block.
fn tests_of(
    values: &[Vec<Vec<f64>>],
    levels: usize,
    has_starts: bool,
) -> (Vec<QuestionTests>, Vec<RatioTest>) {
    let of_level = |level: usize| {
        let differences = values.iter().map(move |cell| differences(&cell[level], &cell[0]));
        differences.filter(|it| it.len() >= MIN_REPEATS).map(|it| test(&it)).collect::<Vec<_>>()
    };
    let raw: Vec<Vec<RatioTest>> = (1..=levels).map(of_level).collect();
    let mut shared = moderated(&raw.concat()).into_iter();
    let questions = (1..=levels).zip(&raw).map(|(level, raw)| QuestionTests {
        pairs: shared.by_ref().take(raw.len()).collect(),
        ..question(values, level, has_starts, 2)
    });
    (questions.collect(), raw.concat())
}

/// Differences in blocks that have both.
fn differences(subject: &[f64], baseline: &[f64]) -> Vec<f64> {
    let all = subject.iter().zip(baseline).map(|(subject, baseline)| subject - baseline);
    all.filter(|it| !it.is_nan()).collect()
}

/// One effect over all cells that have a number of blocks with both sides, as `questions.rs` has
/// it.
fn question(
    values: &[Vec<Vec<f64>>],
    level: usize,
    has_starts: bool,
    least: usize,
) -> QuestionTests {
    let has_enough = |cell: &&Vec<Vec<f64>>| differences(&cell[level], &cell[0]).len() >= least;
    let used: Vec<&Vec<Vec<f64>>> = values.iter().filter(has_enough).collect();
    QuestionTests {
        effect: effect_over(&used, level, has_starts),
        pairs: Vec::new(),
        interactions: Vec::new(),
    }
}

fn effect_over(pairs: &[&Vec<Vec<f64>>], level: usize, has_starts: bool) -> Option<RatioTest> {
    let mut rows = Vec::new();
    let (mut blocks, mut starts) = (Vec::new(), Vec::new());
    let mut paired_blocks = BTreeSet::new();
    for (cell, levels) in pairs.iter().enumerate() {
        for (side, values) in [(0, &levels[0]), (1, &levels[level])] {
            for (block, value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                let mut groups = vec![group_number(&mut blocks, block)];
                groups.extend(has_starts.then(|| group_number(&mut starts, 2 * block + side)));
                rows.push(Row { value: *value, cell: 2 * cell + side, groups });
            }
        }
        let has_both = |block: &usize| !(levels[0][*block] + levels[level][*block]).is_nan();
        paired_blocks.extend((0..levels[0].len()).filter(has_both));
    }
    if pairs.len() < 2 || paired_blocks.len() < MIN_REPEATS {
        return None;
    }
    let share = 1.0 / pairs.len() as f64;
    let weights: Vec<f64> =
        (0..2 * pairs.len()).map(|at| if at % 2 == 1 { share } else { -share }).collect();
    let own = |cell: &&Vec<Vec<f64>>| {
        let test = test(&differences(&cell[level], &cell[0]));
        let (variance, degrees) = test.variance();
        (variance / test.repeats as f64, degrees)
    };
    let own: Vec<(f64, f64)> = pairs.iter().map(own).collect();
    let contrast = mixed::effect(&rows, &weights, &own, paired_blocks.len() as f64 - 1.0)?.contrast;
    Some(RatioTest::of(contrast.estimate, contrast.error, contrast.degrees, paired_blocks.len()))
}

/// The index of a group among those that were seen.
fn group_number(seen: &mut Vec<usize>, group: usize) -> usize {
    seen.iter().position(|it| *it == group).unwrap_or_else(|| {
        seen.push(group);
        seen.len() - 1
    })
}

fn logarithms(random: &mut Random, effect: f64, spread: f64, blocks: usize) -> Vec<f64> {
    let deviation = SCATTER * (spread * random.normal()).exp();
    (0..blocks).map(|_| effect + deviation * random.normal()).collect()
}

fn test(logarithms: &[f64]) -> RatioTest {
    let pairs: Vec<(f64, f64)> = logarithms.iter().map(|it| (it.exp(), 1.0)).collect();
    paired(&pairs).expect("positive pairs")
}

fn is_reported(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Larger { .. } | Decision::Smaller { .. })
}

fn grid() -> impl Iterator<Item = (f64, usize, usize)> {
    SPREADS.into_iter().flat_map(|spread| {
        BLOCKS
            .into_iter()
            .flat_map(move |blocks| CELLS.into_iter().map(move |pairs| (spread, blocks, pairs)))
    })
}

fn line(spread: f64, blocks: usize, pairs: usize, shares: &[f64]) {
    let shares: Vec<String> = shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    out(&format!("| {spread} | {blocks} | {pairs} | {} |", shares.join(" | ")));
}

#[expect(clippy::print_stdout, reason = "an example prints its table")]
fn out(text: &str) {
    println!("{text}");
}
