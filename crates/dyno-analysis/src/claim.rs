//! Comparison of a claim about two systems with the measured figures.

use crate::model::{ClaimPairs, Comparison, Conclusion, Metric, Range, ReportModel, Verdict};
use dyno_model::plan::{Claim, ComparisonMetric, Plan};

/// Compares the claim of a plan with the throughput of its two systems, at each number of clients
/// at which both were measured. A verdict decides if there is one; with too few repeats for
/// verdicts, only the means are compared, and the conclusion says so.
pub(crate) fn conclude(model: &ReportModel, plan: &Plan) -> Option<Conclusion> {
    let Claim { faster, slower } = plan.claim?;
    let is_judged = model.comparison_rules.verdicts_enabled;
    let rows_of = |system: usize| {
        let index = |row: &usize| plan.configurations[*row].system == system;
        (0..model.configurations.len()).filter(index).collect::<Vec<_>>()
    };
    let (mut holds, mut contradicted) = (ClaimPairs::default(), ClaimPairs::default());
    let mut undecided = Vec::new();
    let mut repeats = u32::MAX;
    for one in rows_of(faster) {
        let is_other = |other: &usize| {
            let (one, other) = (&plan.configurations[one], &plan.configurations[*other]);
            (one.clients, &one.levels, &one.workload)
                == (other.clients, &other.levels, &other.workload)
        };
        for other in rows_of(slower).into_iter().filter(is_other) {
            let rows = [&model.configurations[one], &model.configurations[other]];
            let clients = rows[0].clients;
            let [Some(fast), Some(slow)] = rows.map(|row| row.figures.value(Metric::Throughput))
            else {
                continue;
            };
            repeats = repeats.min(rows[0].trials_valid).min(rows[1].trials_valid);
            let ratio = fast / slow;
            let verdict = if is_judged { verdict(model, one, other) } else { by_mean(ratio) };
            match verdict {
                Verdict::Better => add(&mut holds, clients, ratio),
                Verdict::Worse => add(&mut contradicted, clients, ratio),
                Verdict::Equivalent | Verdict::Inconclusive | Verdict::Invalid => {
                    undecided.push(clients);
                }
            }
        }
    }
    let [faster, slower] = [faster, slower].map(|system| plan.systems[system].name.clone());
    (repeats < u32::MAX).then_some(Conclusion::Claim {
        faster,
        slower,
        holds,
        contradicted,
        undecided,
        is_judged,
        repeats,
    })
}

fn by_mean(ratio: f64) -> Verdict {
    match ratio.total_cmp(&1.0) {
        std::cmp::Ordering::Greater => Verdict::Better,
        std::cmp::Ordering::Less => Verdict::Worse,
        std::cmp::Ordering::Equal => Verdict::Inconclusive,
    }
}

/// The report's verdict on one configuration against another, whichever of the two is the subject.
fn verdict(model: &ReportModel, one: usize, other: usize) -> Verdict {
    let sides = |it: &Comparison| (it.subject, it.baseline);
    let of_throughput = |it: &&Comparison| it.metric == ComparisonMetric::Throughput;
    let found = model.comparisons.iter().filter(of_throughput).find_map(|it| match sides(it) {
        sides if sides == (one, other) => it.effect.verdict,
        sides if sides == (other, one) => it.effect.verdict.map(|verdict| match verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            same => same,
        }),
        _ => None,
    });
    found.unwrap_or(Verdict::Inconclusive)
}

fn add(pairs: &mut ClaimPairs, clients: u32, ratio: f64) {
    let difference = (ratio - 1.0).abs();
    pairs.clients.push(clients);
    let range = pairs.difference.get_or_insert(Range { low: difference, high: difference });
    (range.low, range.high) = (range.low.min(difference), range.high.max(difference));
}
