//! How often reports are wrong, and how often they find what is there: the tables of docs/statistics.md.
//!
//! `cargo run --release -p dyno-analysis --example error_rates -- [REPORTS [looks]]` simulates experiments with known truths, and judges them by the code that reports
//! are judged by. A cell is a pair of treatments in some blocks; its paired logarithms scatter by 6 %, times a lognormal factor of its own.

use dyno_analysis::stats::compare::{Goal, RatioTest, paired};
use dyno_analysis::stats::gate::{self, Question};
use dyno_analysis::stats::looks::{FIRST_LOOK, Levels};
use dyno_analysis::stats::mixed::{self, Components, Row};
use dyno_analysis::stats::moderated::{LIKELIHOOD_LEFT, Prior, moderated};
use dyno_analysis::stats::verdict::{Decision, Judgement, Rules, benjamini_hochberg};
use std::f64::consts::TAU;

const BLOCKS: [usize; 3] = [3, 5, 10];
const CELLS: [usize; 3] = [6, 12, 24];
/// Standard deviation of the logarithms of cells' scatters.
const SPREADS: [f64; 3] = [0.0, 0.5, 1.0];
const SCATTER: f64 = 0.06;

fn main() {
    let reports = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(2000);
    let mut random = Random(1);
    // The last table has its own numbers, so that it can be made alone.
    if std::env::args().nth(2).is_none() {
        cells_alone(&mut random, reports);
        whole_reports(&mut random, reports);
        power(&mut random, reports);
    }
    let mut random = Random(2);
    until_decided(&mut random, reports);
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
    for (spread, blocks, cells) in grid() {
        let mut sums = [0.0; 8];
        for half in 0..2 {
            for _ in 0..reports {
                let differs = |cell: usize| half == 1 && cell < cells / 2;
                let tests: Vec<RatioTest> = (0..cells)
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
                    let p = benjamini_hochberg(&tests.iter().map(|test| test.p).collect::<Vec<_>>());
                    sums[4 * half + way] += match half {
                        0 => f64::from(u8::from(p.iter().any(|p| *p < 0.05))),
                        _ => p[..cells / 2].iter().filter(|p| **p < 0.05).count() as f64 / (cells / 2) as f64,
                    };
                }
            }
        }
        line(spread, blocks, cells, &sums.map(|sum| sum / reports as f64));
    }
    out(&format!(
        "dyno's prior: the logarithm of the likelihood may lie {LIKELIHOOD_LEFT} below its maximum."
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

/// Reports as dyno makes them: two questions (the levels of a factor against its first), each with half of the cells; first a factor inside starts, then a
/// setting, where whole starts scatter by 3 %, too.
fn whole_reports(random: &mut Random, reports: usize) {
    out("\n## Whole reports with two questions, nothing differs: % with any verdict (questions, all)");
    out("| spread | blocks | cells | inside a start: questions | all | between starts: questions | all |");
    out("|---|---|---|---|---|---|---|");
    for (spread, blocks, cells) in grid() {
        let mut sums = [0.0; 4];
        for (at, starts) in [0.0, 0.03].into_iter().enumerate() {
            for _ in 0..reports {
                let (questions, _) = report(random, 2, cells / 2, blocks, 0.0, spread, SCATTER, starts);
                let judged = gate::judge(&questions, Rules::default());
                let any_question = judged.iter().any(|it| it.effect.as_ref().is_some_and(is_told));
                let any = any_question || judged.iter().any(|it| it.cells.iter().any(is_told));
                sums[2 * at] += f64::from(u8::from(any_question));
                sums[2 * at + 1] += f64::from(u8::from(any));
            }
        }
        line(spread, blocks, cells, &sums.map(|sum| sum / reports as f64));
    }
}

/// A difference of 5 % in all cells: how often it is found, and how often the answer is "equivalent" when there is none.
fn power(random: &mut Random, reports: usize) {
    out(
        "\n## 5 % in all six cells of one question, 3 blocks: % of reports that answer it, % of cells found, % of cells found by t per cell alone",
    );
    out("| scatter of a trial | question | cells | t per cell (before) | equivalent, when nothing differs |");
    out("|---|---|---|---|---|");
    for scatter in [0.01, 0.02, 0.03, 0.04] {
        let mut sums = [0.0; 4];
        for _ in 0..reports {
            // Two trials make a pair.
            let of_pair = scatter * 2_f64.sqrt();
            let (questions, raw) = report(random, 1, 6, 3, 0.05_f64.ln_1p(), 0.0, of_pair, 0.0);
            let judged = gate::judge(&questions, Rules::default()).remove(0);
            sums[0] += f64::from(u8::from(judged.effect.as_ref().is_some_and(is_told)));
            sums[1] += judged.cells.iter().filter(|it| is_told(it)).count() as f64 / 6.0;
            let p = benjamini_hochberg(&raw.iter().map(|test| test.p).collect::<Vec<_>>());
            sums[2] += p.iter().filter(|p| **p < 0.05).count() as f64 / 6.0;
            let (questions, _) = report(random, 1, 6, 3, 0.0, 0.0, of_pair, 0.0);
            let judged = gate::judge(&questions, Rules::default()).remove(0);
            let is_equivalent = judged.effect.is_some_and(|it| it.decision == Decision::Equivalent);
            sums[3] += f64::from(u8::from(is_equivalent));
        }
        let percent = sums.map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).join(" | ");
        out(&format!("| {} % | {percent} |", 100.0 * scatter));
    }
}

/// Blocks until the question is decided, against as many as were planned: one question over four cells, a factor inside starts, or a setting whose starts scatter
/// half as much as its trials.
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
            let looks: Vec<Levels> =
                (FIRST_LOOK..=most).map(|block| Levels::after(block, most, false)).collect();
            for (scatter, effect) in
                [0.03, 0.06, 0.1].into_iter().flat_map(|it| [0.0, 0.05, 0.1].map(|effect| (it, effect)))
            {
                let mut sums = [0.0; 6];
                for _ in 0..reports {
                    let values = levels_of(random, most as usize, f64::ln_1p(effect), scatter, has_starts);
                    let one = until_this_is_decided(&values, most, &looks, has_starts);
                    sums.iter_mut().zip(one).for_each(|(sum, it)| *sum += it);
                }
                let (last, shares) = sums.split_last().expect("six");
                let shares: Vec<String> =
                    shares.iter().map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).collect();
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

/// Whether the question is found different by looks and with all blocks, equivalent likewise, given up as hopeless; and the number of blocks.
fn until_this_is_decided(
    values: &[Vec<Vec<f64>>],
    most: u32,
    looks: &[Levels],
    has_starts: bool,
) -> [f64; 6] {
    let rules = Rules::default();
    let is = |it: bool| f64::from(u8::from(it));
    let fixed = judged(values, most, Levels::ONCE, has_starts).0;
    for (block, levels) in (FIRST_LOOK..=most).zip(looks) {
        let (judgement, test) = judged(values, block, *levels, has_starts);
        let goal = Goal { risk: judgement.risk, alpha: rules.alpha, margin: rules.margin };
        let is_open = judgement.decision == Decision::Inconclusive;
        let is_hopeless =
            is_open && block < most && test.chance(f64::from(block) / f64::from(most), goal) < 0.1;
        if is_open && !is_hopeless && block < most {
            continue;
        }
        let is_equivalent = |it: &Judgement| it.decision == Decision::Equivalent;
        return [
            is(is_told(&judgement)),
            is(is_told(&fixed)),
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
    let draws = [(); 2].map(|()| (0..blocks).map(|_| of_start * random.normal()).collect::<Vec<_>>());
    let mut level = |level: usize| {
        let truth = if level > 0 { effect } else { 0.0 };
        draws[level].iter().map(|draw| truth + draw + of_pair * random.normal()).collect::<Vec<_>>()
    };
    (0..4).map(|_| vec![level(0), level(1)]).collect()
}

/// The question after some blocks, as the report judges it.
fn judged(values: &[Vec<Vec<f64>>], blocks: u32, levels: Levels, has_starts: bool) -> (Judgement, RatioTest) {
    let until = |values: &Vec<f64>| values[..blocks as usize].to_vec();
    let values: Vec<Vec<Vec<f64>>> = values.iter().map(|levels| levels.iter().map(until).collect()).collect();
    let raw: Vec<RatioTest> = values.iter().map(|cell| test(&differences(&cell[1], &cell[0]))).collect();
    let effect = effect_over(&values, 1, has_starts, &raw).expect("it scatters").at_look(levels);
    let cells = moderated(&raw).into_iter().map(|test| test.at_look(levels)).collect();
    let question = Question { effect: Some(effect), cells, interactions: Vec::new() };
    (gate::judge(&[question], Rules::default()).remove(0).effect.expect("it was tested"), effect)
}

/// Questions about some levels against a first one, and the cells' tests before they borrow strength. Each cell has its own scatter; a level's start
/// shares a draw over all its cells.
#[expect(clippy::too_many_arguments, reason = "a simulation has as many knobs as it has")]
fn report(
    random: &mut Random,
    levels: usize,
    cells: usize,
    blocks: usize,
    effect: f64,
    spread: f64,
    scatter: f64,
    starts: f64,
) -> (Vec<Question>, Vec<RatioTest>) {
    // Values by cell, level (the first is the baseline) and block.
    let deviations: Vec<f64> =
        (0..cells).map(|_| scatter / 2_f64.sqrt() * (spread * random.normal()).exp()).collect();
    let draws: Vec<Vec<f64>> =
        (0..=levels).map(|_| (0..blocks).map(|_| starts * random.normal()).collect()).collect();
    let values: Vec<Vec<Vec<f64>>> = deviations
        .iter()
        .map(|deviation| {
            let level = |level: usize| {
                let truth = if level > 0 { effect } else { 0.0 };
                draws[level].iter().map(|draw| truth + draw + deviation * random.normal()).collect()
            };
            (0..=levels).map(level).collect()
        })
        .collect();
    let raw: Vec<RatioTest> = (1..=levels)
        .flat_map(|level| values.iter().map(move |cell| (level, cell)))
        .map(|(level, cell)| test(&differences(&cell[level], &cell[0])))
        .collect();
    let shared = moderated(&raw);
    let questions = (1..=levels).map(|level| Question {
        effect: effect_over(&values, level, starts > 0.0, &raw[(level - 1) * cells..][..cells]),
        cells: shared[(level - 1) * cells..][..cells].to_vec(),
        interactions: Vec::new(),
    });
    (questions.collect(), raw)
}

fn differences(subject: &[f64], baseline: &[f64]) -> Vec<f64> {
    subject.iter().zip(baseline).map(|(subject, baseline)| subject - baseline).collect()
}

/// One effect over all cells, as `questions.rs` has it.
fn effect_over(
    values: &[Vec<Vec<f64>>],
    level: usize,
    has_starts: bool,
    raw: &[RatioTest],
) -> Option<RatioTest> {
    let mut rows = Vec::new();
    for (cell, levels) in values.iter().enumerate() {
        for (side, values) in [(0, &levels[0]), (1, &levels[level])] {
            for (block, value) in values.iter().enumerate() {
                let mut groups = vec![block];
                groups.extend(has_starts.then_some(2 * block + side));
                rows.push(Row { value: *value, cell: 2 * cell + side, groups });
            }
        }
    }
    let fit = mixed::fit(&rows, Components::Free)?;
    let share = 1.0 / values.len() as f64;
    let weights: Vec<f64> =
        (0..2 * values.len()).map(|at| if at % 2 == 1 { share } else { -share }).collect();
    let whole = fit.contrast(&weights)?;
    let own = mixed::own_degrees(&variances(raw), raw[0].repeats);
    Some(RatioTest::of(whole.estimate, whole.error, whole.degrees.min(own), raw[0].repeats))
}

fn logarithms(random: &mut Random, effect: f64, spread: f64, blocks: usize) -> Vec<f64> {
    let deviation = SCATTER * (spread * random.normal()).exp();
    (0..blocks).map(|_| effect + deviation * random.normal()).collect()
}

fn test(logarithms: &[f64]) -> RatioTest {
    let pairs: Vec<(f64, f64)> = logarithms.iter().map(|it| (it.exp(), 1.0)).collect();
    paired(&pairs).expect("positive pairs")
}

fn is_told(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Larger { .. } | Decision::Smaller { .. })
}

fn grid() -> impl Iterator<Item = (f64, usize, usize)> {
    SPREADS.into_iter().flat_map(|spread| {
        BLOCKS.into_iter().flat_map(move |blocks| CELLS.into_iter().map(move |cells| (spread, blocks, cells)))
    })
}

fn line(spread: f64, blocks: usize, cells: usize, shares: &[f64]) {
    let shares: Vec<String> = shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    out(&format!("| {spread} | {blocks} | {cells} | {} |", shares.join(" | ")));
}

#[expect(clippy::print_stdout, reason = "an example prints its table")]
fn out(text: &str) {
    println!("{text}");
}
