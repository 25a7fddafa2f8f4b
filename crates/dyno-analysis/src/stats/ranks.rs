//! Comparison of two configurations by ranks: a ratio, its interval and a p-value. The only
//! assumption is that both sides have the same distribution up to a shift on the logarithmic scale.
//!
//! Test: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945); H.
//! B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically
//! larger than the other", Ann. Math. Statist. 18 (1947). Estimate and interval: J. L. Hodges and
//! E. L. Lehmann, "Estimates of location based on rank tests", Ann. Math. Statist. 34 (1963); M.
//! Hollander and D. A. Wolfe, "Nonparametric Statistical Methods", 2nd ed. (1999), sections 4.1 to
//! 4.3.

use super::student::two_sided_p;
use std::cmp::Ordering;

/// Result of a comparison by ranks. All ratios are subject over baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Median of the ratios of every value of the subject to every value of the baseline (Hodges
    /// and Lehmann).
    pub ratio: f64,
    /// Ends of the 95 % interval; `None` with too few values for a 95 % interval, for example fewer
    /// than four on each side.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p-value of "both sides have the same distribution".
    pub p: f64,
}

/// Number of values on both sides together up to which the exact distribution is used; beyond, the
/// normal approximation is accurate to three digits.
const EXACT_MAX: usize = 60;
/// Probability of each tail outside a 95 % interval.
const TAIL: f64 = 0.025;
/// The corresponding quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Compares two independent sets of values. `None` when a side is empty or a value is not positive.
///
/// With `U` the number of pairs in which the subject's value is the larger one (half a pair for
/// equal values), the p-value is twice the probability of the smaller tail from `U` on, at most 1,
/// over all assignments of the values to the sides; this treats ties exactly. The interval goes
/// from the `k`-th smallest ratio to the `k`-th largest, with the largest `k` for which
/// `P(U < k) < 0.025`, computed without ties, which makes it too wide rather than too narrow.
#[must_use]
pub fn rank_sum(subject: &[f64], baseline: &[f64]) -> Option<RankTest> {
    let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
    if subject.is_empty() || baseline.is_empty() || !subject.iter().chain(baseline).all(is_positive)
    {
        return None;
    }
    let mut ratios: Vec<f64> =
        subject.iter().flat_map(|value| baseline.iter().map(move |other| value / other)).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    let ratio = if ratios.len() % 2 == 1 {
        ratios[middle]
    } else {
        (ratios[middle - 1] * ratios[middle]).sqrt()
    };
    let kth = kth_ratio(subject.len(), baseline.len());
    Some(RankTest {
        ratio,
        interval: (kth > 0).then(|| (ratios[kth - 1], ratios[ratios.len() - kth])),
        p: p_value(subject, baseline),
    })
}

/// Index of the ordered ratio that bounds the 95 % interval, from 1 at either end; 0 when there is
/// none.
fn kth_ratio(n1: usize, n2: usize) -> usize {
    if n1 + n2 > EXACT_MAX { kth_by_normal(n1, n2) } else { kth_exactly(n1, n2) }
}

fn kth_by_normal(n1: usize, n2: usize) -> usize {
    let (mean, deviation) = normal(n1, n2, 0.0);
    (mean - Z * deviation).max(0.0) as usize
}

fn kth_exactly(n1: usize, n2: usize) -> usize {
    // Without ties the doubled rank sum is twice U plus its minimum.
    let scores: Vec<usize> = (1..=n1 + n2).map(|rank| 2 * rank).collect();
    let arrangements = arrangements(&scores, n1);
    let (all, least) = (arrangements.iter().sum::<f64>(), n1 * (n1 + 1));
    let mut below = 0.0;
    for (k, number_of) in arrangements[least..].iter().step_by(2).enumerate() {
        below += number_of / all;
        if below >= TAIL {
            return k;
        }
    }
    0
}

/// Two-sided p-value of the rank sum.
fn p_value(subject: &[f64], baseline: &[f64]) -> f64 {
    let by = if subject.len() + baseline.len() > EXACT_MAX { p_by_normal } else { p_exactly };
    by(subject, baseline)
}

fn p_by_normal(subject: &[f64], baseline: &[f64]) -> f64 {
    let (_, of_subject, ties) = doubled_ranks(subject, baseline);
    let (n1, n2) = (subject.len(), baseline.len());
    let (mean, deviation) = normal(n1, n2, ties);
    let u = (of_subject as f64 - (n1 * (n1 + 1)) as f64) / 2.0;
    // Continuity correction.
    let distance = ((u - mean).abs() - 0.5).max(0.0);
    // With this many degrees of freedom t is normal.
    if deviation > 0.0 { two_sided_p(distance / deviation, 1e9) } else { 1.0 }
}

fn p_exactly(subject: &[f64], baseline: &[f64]) -> f64 {
    let (scores, of_subject, _) = doubled_ranks(subject, baseline);
    let arrangements = arrangements(&scores, subject.len());
    let all: f64 = arrangements.iter().sum();
    let (low, high): (f64, f64) =
        (arrangements[..=of_subject].iter().sum(), arrangements[of_subject..].iter().sum());
    (2.0 * low.min(high) / all).min(1.0)
}

/// Mean and standard deviation of `U`; `ties` is the sum of `t³ - t` over groups of `t` equal
/// values.
fn normal(n1: usize, n2: usize, ties: f64) -> (f64, f64) {
    let (n1, n2) = (n1 as f64, n2 as f64);
    let n = n1 + n2;
    let variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    (n1 * n2 / 2.0, variance.max(0.0).sqrt())
}

/// Twice the rank of every value (ties share the mean of their ranks, so that twice it is an
/// integer), the sum of the subject's, and the sum of `t³ - t` over groups of `t` equal values.
fn doubled_ranks(subject: &[f64], baseline: &[f64]) -> (Vec<usize>, usize, f64) {
    let mut values: Vec<(f64, bool)> = subject.iter().map(|value| (*value, true)).collect();
    values.extend(baseline.iter().map(|value| (*value, false)));
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut scores, mut of_subject, mut ties) = (Vec::with_capacity(values.len()), 0, 0.0);
    for group in values.chunk_by(|a, b| a.0.total_cmp(&b.0) == Ordering::Equal) {
        // Ranks from `first` to `first + length - 1`.
        let (first, length) = (scores.len() + 1, group.len());
        let doubled = 2 * first + length - 1;
        scores.resize(scores.len() + length, doubled);
        of_subject += doubled * group.iter().filter(|(_, is_subject)| *is_subject).count();
        ties += (length * length * length - length) as f64;
    }
    (scores, of_subject, ties)
}

/// For each sum, the number of ways to choose `chosen` scores with this sum: the shift algorithm
/// (B. Streitberg and J. Röhmel, "Exact distributions for permutation and rank tests", Statistical
/// Software Newsletter 12, 1986). Integers below 2^53 are exact; larger ones are accurate to 15
/// digits, since nothing is subtracted.
fn arrangements(scores: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = scores.iter().rev().take(chosen).sum();
    let mut arrangements = vec![vec![0.0; most + 1]; chosen + 1];
    arrangements[0][0] = 1.0;
    for score in scores {
        for number in (1..=chosen).rev() {
            let (fewer, more) = arrangements.split_at_mut(number);
            for (sum, number_of) in
                fewer[number - 1].iter().enumerate().take((most + 1).saturating_sub(*score))
            {
                more[0][sum + score] += number_of;
            }
        }
    }
    arrangements.swap_remove(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} against {expected}");
    }

    /// Values with these logarithms.
    fn exponentials(values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value.exp()).collect()
    }

    #[test]
    fn critical_values_agree_with_the_published_table() {
        // Largest U that is significant at 5 % on two sides (Mann and Whitney's table, as in
        // textbooks); one more is the k of the interval. With three values on each side nothing is
        // significant.
        for (n1, n2, critical) in [
            (4, 4, 0),
            (4, 6, 2),
            (5, 5, 2),
            (5, 8, 6),
            (6, 6, 5),
            (7, 7, 8),
            (8, 8, 13),
            (9, 9, 17),
            (10, 10, 23),
            (20, 20, 127),
        ] {
            assert_eq!(kth_ratio(n1, n2), critical + 1, "{n1} and {n2}");
            assert_eq!(kth_ratio(n2, n1), critical + 1, "{n2} and {n1}");
        }
        assert_eq!((kth_ratio(3, 3), kth_ratio(2, 5)), (0, 0));
    }

    #[test]
    fn sides_that_do_not_overlap_have_the_smallest_p_there_is() {
        // 2 / C(2n, n).
        for (n, p) in [(3, 2.0 / 20.0), (4, 2.0 / 70.0), (5, 2.0 / 252.0), (6, 2.0 / 924.0)] {
            let low: Vec<f64> = (1..=n).map(f64::from).collect();
            let high: Vec<f64> = low.iter().map(|value| value + 100.0).collect();
            close(rank_sum(&high, &low).expect("values").p, p, 1e-12);
            close(rank_sum(&low, &high).expect("values").p, p, 1e-12);
        }
    }

    #[test]
    fn the_textbooks_example_gives_its_published_figures() {
        // Hollander and Wolfe, table 4.1 (permeability of membranes), also the example of R's
        // wilcox.test: W = 35, one-sided p = 0.1272; estimate 0.305, 95 % interval -0.15 to 0.76.
        let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let y = [1.15, 0.88, 0.90, 0.74, 1.21];
        let test = rank_sum(&exponentials(&x), &exponentials(&y)).expect("values");
        close(test.p, 2.0 * 0.127_206_127, 1e-8);
        close(test.ratio.ln(), 0.305, 1e-9);
        let (low, high) = test.interval.expect("enough values");
        close(low.ln(), -0.15, 1e-9);
        close(high.ln(), 0.76, 1e-9);
    }

    #[test]
    fn equal_values_are_counted_as_every_way_to_deal_them_shows() {
        // 2, 3 against 1, 2: ranks 2.5, 4 of 1, 2.5, 2.5, 4. Of the 6 ways, rank sums are 3.5, 3.5,
        // 5, 5, 6.5, 6.5; at least 6.5 are 2.
        close(rank_sum(&[2.0, 3.0], &[1.0, 2.0]).expect("values").p, 2.0 * 2.0 / 6.0, 1e-12);
        let same = rank_sum(&[5.0, 5.0, 5.0, 5.0], &[5.0, 5.0, 5.0, 5.0]).expect("values");
        assert_eq!(same, RankTest { ratio: 1.0, interval: Some((1.0, 1.0)), p: 1.0 });
    }

    #[test]
    fn the_distribution_is_that_of_every_way_to_deal_the_ranks() {
        // All subsets of three of seven ranks, with two ranks equal.
        let scores = [2, 5, 5, 8, 10, 12, 14];
        let mut counted = vec![0.0; 37];
        for subset in (0_u32..1 << 7).filter(|subset| subset.count_ones() == 3) {
            let sum: usize = (0..7).filter(|i| subset >> i & 1 == 1).map(|i| scores[i]).sum();
            counted[sum] += 1.0;
        }
        assert_eq!(arrangements(&scores, 3), counted);
    }

    #[test]
    fn one_slow_trial_moves_the_ratio_of_ranks_hardly() {
        let baseline = [100.0, 101.0, 102.0, 99.0, 98.0, 100.5];
        let subject = [110.0, 111.0, 112.0, 109.0, 30.0, 110.5];
        let by_ranks = rank_sum(&subject, &baseline).expect("values");
        let welch = crate::stats::compare::welch(&subject, &baseline).expect("values");
        assert!(by_ranks.ratio > 1.08 && welch.ratio < 0.95, "{by_ranks:?} {welch:?}");
    }

    #[test]
    fn swapping_the_sides_inverts_the_ratio() {
        let (one, other) = ([10.0, 12.0, 11.0, 15.0, 9.0], [8.0, 8.5, 11.0, 9.5]);
        let (there, back) =
            (rank_sum(&one, &other).expect("values"), rank_sum(&other, &one).expect("values"));
        close(there.ratio * back.ratio, 1.0, 1e-12);
        close(there.interval.expect("enough").0 * back.interval.expect("enough").1, 1.0, 1e-12);
        close(there.p, back.p, 1e-12);
    }

    #[test]
    fn normal_approximation_is_close_to_the_exact_distribution() {
        let spread = |factor: f64| -> Vec<f64> {
            (0..30).map(|i| factor * (1.0 + 0.01 * f64::from(i * 37 % 31))).collect()
        };
        for factor in [1.0, 1.03, 1.05, 1.1] {
            let (subject, baseline) = (spread(factor), spread(1.0));
            close(p_by_normal(&subject, &baseline), p_exactly(&subject, &baseline), 0.002);
        }
        // Thousands of equal or nearly equal values must not overflow.
        assert_eq!(rank_sum(&[1.0; 900], &[1.0; 900]).expect("values").p, 1.0);
        for n in [20, 25, 30] {
            assert!(kth_by_normal(n, n).abs_diff(kth_exactly(n, n)) <= 1, "{n}");
        }
    }

    #[test]
    fn nothing_follows_from_nothing_or_from_zero() {
        assert_eq!(rank_sum(&[], &[1.0]), None);
        assert_eq!(rank_sum(&[0.0, 1.0], &[1.0]), None);
        assert_eq!(rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).expect("values").interval, None);
    }
}
