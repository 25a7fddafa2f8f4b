//! Hypotheses that are tested in sequence: a rejected hypothesis passes its level on to others, and
//! the probability of any false rejection stays at most alpha, whichever hypotheses are true and
//! however they depend on each other.
//!
//! Fixed sequences, Holm's procedure and combinations of them are such graphs: each hypothesis
//! starts with a share of alpha and has weights for passing its level to others.
//!
//! # Sources
//! F. Bretz, W. Maurer, W. Brannath, M. Posch, "A Graphical Approach to Sequentially Rejective
//! Multiple Test Procedures", Statist. Med. 28 (2009), algorithm 1. A rejection that implies
//! another one rejects both: J. P. Shaffer, "Modified Sequentially Rejective Multiple Test
//! Procedures", J. Amer. Statist. Assoc. 81 (1986).

use super::verdict::Corrected;

/// A hypothesis: its p-value, its initial share of alpha and its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// p-value.
    pub p: f64,
    /// Initial share of alpha.
    pub share: f64,
    /// Weights for passing its level to others when it is rejected, by index; their sum is at most
    /// 1, and the weight of the hypothesis itself is 0.
    pub passes: Vec<f64>,
    /// A hypothesis that is false whenever this one is, and is therefore rejected with it.
    pub implies: Option<usize>,
}

/// The hypotheses after correction, in order.
#[must_use]
pub fn in_sequence(hypotheses: &[Hypothesis], alpha: f64) -> Vec<Corrected> {
    let mut graph = Graph {
        shares: hypotheses.iter().map(|it| it.share).collect(),
        passes: hypotheses.iter().map(|it| it.passes.clone()).collect(),
        left: (0..hypotheses.len()).collect(),
    };
    let mut corrected: Vec<Corrected> =
        graph.shares.iter().map(|share| Corrected { p: 1.0, risk: alpha * share }).collect();
    let mut largest = 0.0_f64;
    let mut is_rejecting = true;
    loop {
        let p = |at: usize| hypotheses[at].p / graph.shares[at].max(f64::MIN_POSITIVE);
        let Some(next) = graph.left.iter().copied().min_by(|a, b| p(*a).total_cmp(&p(*b))) else {
            break;
        };
        largest = largest.max(p(next).min(1.0));
        if is_rejecting && largest >= alpha {
            // Intervals of hypotheses that are not rejected use the levels at which they were
            // tested last.
            is_rejecting = false;
            graph.left.iter().for_each(|at| corrected[*at].risk = alpha * graph.shares[*at]);
        }
        let implied = hypotheses[next].implies.filter(|it| graph.left.contains(it));
        for at in implied.into_iter().chain([next]) {
            let risk = if is_rejecting { alpha * graph.shares[at] } else { corrected[at].risk };
            corrected[at] = Corrected { p: largest, risk };
            graph.reject(at);
        }
    }
    corrected
}

/// The remaining hypotheses.
struct Graph {
    shares: Vec<f64>,
    passes: Vec<Vec<f64>>,
    left: Vec<usize>,
}

impl Graph {
    /// Removes a hypothesis: distributes its share by its weights, and redirects the weights of
    /// others that point to it.
    fn reject(&mut self, rejected: usize) {
        self.left.retain(|at| *at != rejected);
        let (share, out) = (self.shares[rejected], self.passes[rejected].clone());
        for at in self.left.clone() {
            self.shares[at] += share * out[at];
            let to = self.passes[at][rejected];
            let back = 1.0 - to * out[at];
            for other in &self.left {
                let passed = self.passes[at][*other] + to * out[*other];
                self.passes[at][*other] =
                    if *other == at || back <= 0.0 { 0.0 } else { passed / back };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::holm;
    use super::*;

    fn hypotheses<const N: usize>(
        p: [f64; N],
        shares: [f64; N],
        passes: [[f64; N]; N],
    ) -> Vec<Hypothesis> {
        let one = |at: usize| Hypothesis {
            p: p[at],
            share: shares[at],
            passes: passes[at].to_vec(),
            implies: None,
        };
        (0..N).map(one).collect()
    }

    #[test]
    fn a_graph_that_passes_everything_to_everybody_is_holms_procedure() {
        for p in [[0.01, 0.04, 0.03, 0.005], [0.9, 0.001, 0.2, 0.012]] {
            let passes: [[f64; 4]; 4] = std::array::from_fn(|a| {
                std::array::from_fn(|b| if a == b { 0.0 } else { 1.0 / 3.0 })
            });
            let found = in_sequence(&hypotheses(p, [0.25; 4], passes), 0.05);
            for (it, expected) in found.iter().zip(holm(&p.map(|p| (p, 1.0)), 0.05)) {
                assert!((it.p - expected.p).abs() < 1e-12, "{found:?}");
                assert!((it.risk - expected.risk).abs() < 1e-12, "{found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn fixed_sequence_tests_at_full_level_until_one_is_not_rejected() {
        let passes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]];
        let found = in_sequence(&hypotheses([0.04, 0.03, 0.2], [1.0, 0.0, 0.0], passes), 0.05);
        assert_eq!(found.iter().map(|it| it.p).collect::<Vec<_>>(), [0.04, 0.04, 0.2]);
        assert!(found.iter().all(|it| (it.risk - 0.05).abs() < 1e-12), "{found:?}");
        let found = in_sequence(&hypotheses([0.06, 0.001, 0.001], [1.0, 0.0, 0.0], passes), 0.05);
        assert!(found.iter().all(|it| it.p > 0.05) && found[1].risk == 0.0, "{found:?}");
    }

    #[test]
    fn two_questions_of_two_metrics_pass_their_levels_as_computed_by_hand() {
        // The first two are primary: each passes half to the other, half to its own second metric,
        // which passes its level to the other primary one.
        let passes = [
            [0.0, 0.5, 0.5, 0.0],
            [0.5, 0.0, 0.0, 0.5],
            [0.0, 1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
        ];
        let found =
            in_sequence(&hypotheses([0.01, 0.005, 0.1, 0.5], [0.5, 0.5, 0.0, 0.0], passes), 0.025);
        let close = |at: usize, p: f64| assert!((found[at].p - p).abs() < 1e-9, "{found:?}");
        close(1, 0.01);
        close(0, 0.01 / 0.75);
        assert!(found[2].p > 0.025 && found[3].p > 0.025, "{found:?}");
    }

    #[test]
    fn implied_hypothesis_is_rejected_and_passes_its_share_on() {
        // The first implies the second, which passes to it; together they pass everything to the
        // third.
        let mut all = hypotheses(
            [0.02, 0.9, 0.04],
            [0.5, 0.5, 0.0],
            [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0; 3]],
        );
        all[0].implies = Some(1);
        let found = in_sequence(&all, 0.05);
        assert!(found.iter().all(|it| (it.p - 0.04).abs() < 1e-12), "{found:?}");
        assert!((found[2].risk - 0.05).abs() < 1e-12, "{found:?}");
    }
}
