//! Checks that the trials of a block were measured without a break. A block provides equal
//! conditions; a resumed run may continue in the middle of one, after a reboot or on the next day.

use crate::clock::seconds_between;
use dyno_model::plan::Plan;
use dyno_model::warning::Warning;
use std::collections::{BTreeMap, BTreeSet};

/// A pause within a block that is reported, in hours. Starting servers and loading data are part of
/// trials and do not count.
const APART: f64 = 1.0;

/// When and where an attempt at a trial was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The kernel's id of this boot of the machine; empty when unknown.
    pub(crate) boot: String,
    /// UTC time, RFC 3339.
    pub(crate) begun_at: String,
    /// UTC time, RFC 3339.
    pub(crate) ended_at: String,
}

/// Warnings about blocks, in order.
pub(crate) fn doubts(plan: &Plan, spans: &BTreeMap<String, Span>) -> Vec<Warning> {
    let mut blocks: BTreeMap<u32, Vec<&Span>> = BTreeMap::new();
    for trial in &plan.trials {
        blocks.entry(trial.block).or_default().extend(spans.get(&trial.id));
    }
    blocks.into_iter().flat_map(|(block, spans)| doubts_about(block, spans)).collect()
}

fn doubts_about(block: u32, mut spans: Vec<&Span>) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let boots: BTreeSet<&str> =
        spans.iter().map(|span| span.boot.as_str()).filter(|boot| !boot.is_empty()).collect();
    if boots.len() > 1 {
        doubts.push(Warning::BlockRestarted { block });
    }
    // A trial that was repeated was measured last, wherever the plan has it.
    spans.sort_by(|one, other| one.begun_at.cmp(&other.begun_at));
    let pauses =
        spans.windows(2).filter_map(|pair| seconds_between(&pair[0].ended_at, &pair[1].begun_at));
    let hours = pauses.fold(0.0, f64::max) / 3600.0;
    if hours >= APART {
        doubts.push(Warning::BlockApart { block, hours });
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Shape;

    fn span(boot: &str, begun_at: &str, ended_at: &str) -> Span {
        Span { boot: boot.to_owned(), begun_at: begun_at.to_owned(), ended_at: ended_at.to_owned() }
    }

    fn of(spans: &[Span]) -> Vec<Warning> {
        let plan =
            Shape { systems: 1, clients: vec![1, 8, 20], blocks: 1, ..Shape::small() }.plan();
        let ids = plan.trials.iter().map(|trial| trial.id.clone());
        doubts(&plan, &ids.zip(spans.iter().cloned()).collect())
    }

    #[test]
    fn a_block_across_two_boots_or_with_a_long_pause_raises_a_warning() {
        let first = span("a", "2026-11-20T10:00:00Z", "2026-11-20T10:10:00Z");
        let second = span("a", "2026-11-20T10:11:00Z", "2026-11-20T10:20:00Z");
        assert_eq!(of(&[first.clone(), second.clone()]), []);
        let restarted = span("b", "2026-11-20T10:25:00Z", "2026-11-20T10:30:00Z");
        assert_eq!(
            of(&[first.clone(), second.clone(), restarted]),
            [Warning::BlockRestarted { block: 1 }]
        );
        let next_day = span("a", "2026-11-21T10:50:00Z", "2026-11-21T11:00:00Z");
        let apart = [Warning::BlockApart { block: 1, hours: 24.5 }];
        assert_eq!(of(&[first.clone(), second.clone(), next_day.clone()]), apart);
        assert_eq!(
            of(&[next_day, second, first]),
            apart,
            "the first trial was the one that was repeated"
        );
    }

    #[test]
    fn logs_of_older_versions_hold_no_boot_id() {
        let first = span("", "2026-11-20T10:00:00Z", "2026-11-20T10:10:00Z");
        let second = span("b", "2026-11-20T10:11:00Z", "2026-11-20T10:20:00Z");
        assert_eq!(of(&[first, second]), []);
    }
}
