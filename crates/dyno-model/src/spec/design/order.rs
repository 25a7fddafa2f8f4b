//! The run order: randomised complete blocks. Each block contains every configuration once, in an
//! independent random order, so that drift over hours (temperature, neighbours, fragmentation)
//! affects all configurations alike.
//!
//! When levels need another start of a server, a block is split (split-plot design): its restart
//! groups come in a random order, one start each, and the configurations of each restart group
//! follow one another in a random order. When these need several data sets, they are split once
//! more: the data sets come in a random order, and the configurations on each follow one another.

use crate::plan::Trial;
use crate::random::SplitMix64;

/// The configurations of a restart group, grouped by data set.
pub(in crate::spec) type GroupOrder = Vec<Vec<usize>>;

/// All trials in run order. A plan that is not split has one restart group. Block `b` depends on
/// `seed`, `b` and the plots only, so adding blocks does not change the earlier ones.
pub(in crate::spec) fn trials(restart_groups: &[GroupOrder], blocks: u32, seed: u64) -> Vec<Trial> {
    let configurations = restart_groups.iter().flatten().map(Vec::len).sum::<usize>();
    // Each group of configurations has a separate random stream, by its number within the plan.
    let first_group: Vec<usize> = (0..restart_groups.len())
        .map(|restart_group| restart_groups[..restart_group].iter().map(Vec::len).sum())
        .collect();
    let block_width = digits(u64::from(blocks)).max(2);
    let trial_width = digits(configurations as u64).max(3);
    let mut trials = Vec::with_capacity(configurations * blocks as usize);
    for block in 1..=blocks {
        let mut order = Vec::with_capacity(configurations);
        for restart_group in permutation(restart_groups.len(), stream(seed, ORDER_OF_GROUPS), block)
        {
            let of_groups = stream(seed, ORDER_OF_GROUPS - 1 - restart_group as u64);
            for group in permutation(restart_groups[restart_group].len(), of_groups, block) {
                let inside = stream(seed, (first_group[restart_group] + group) as u64);
                let members = &restart_groups[restart_group][group];
                order.extend(
                    permutation(members.len(), inside, block).into_iter().map(|at| members[at]),
                );
            }
        }
        for (i, configuration) in order.into_iter().enumerate() {
            let id = format!("b{block:0block_width$}-{:0trial_width$}", i + 1);
            trials.push(Trial { id, block, configuration });
        }
    }
    trials
}

/// The same for a number of configurations that need no start of a server.
#[must_use]
pub fn in_blocks(configurations: usize, blocks: u32, seed: u64) -> Vec<Trial> {
    trials(&[vec![(0..configurations).collect()]], blocks, seed)
}

/// Number of the stream that orders restart groups; the preceding numbers order the data sets of
/// one plot each, and the low numbers the configurations.
const ORDER_OF_GROUPS: u64 = u64::MAX;

/// A seed for each of several independent orders. The first is the seed itself: the order of a plan
/// that is not split.
fn stream(seed: u64, stream_index: u64) -> u64 {
    if stream_index == 0 { seed } else { SplitMix64(seed.wrapping_add(stream_index)).bits() }
}

/// Fisher-Yates shuffle: every order is equally likely.
fn permutation(length: usize, seed: u64, block: u32) -> Vec<usize> {
    // The block number passes through the generator once, so that neighbouring seeds and blocks
    // share no stream.
    let stream = SplitMix64(u64::from(block)).bits();
    let mut random = SplitMix64(seed ^ stream);
    let mut order: Vec<usize> = (0..length).collect();
    for last in (1..length).rev() {
        let chosen =
            usize::try_from(random.below(last as u64 + 1)).expect("below the length of a vector");
        order.swap(last, chosen);
    }
    order
}

fn digits(number: u64) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first outputs of the reference implementation for seed 1234567.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = SplitMix64(1_234_567);
        let drawn = [random.bits(), random.bits(), random.bits()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    /// The trials of a plan that is not split.
    fn whole(configurations: usize, blocks: u32, seed: u64) -> Vec<Trial> {
        trials(&[vec![(0..configurations).collect()]], blocks, seed)
    }

    #[test]
    fn the_order_of_a_seed_never_changes() {
        let order: Vec<usize> =
            whole(6, 2, 1).into_iter().map(|trial| trial.configuration).collect();
        assert_eq!(order, [1, 3, 0, 5, 2, 4, 1, 5, 0, 4, 2, 3]);
    }

    #[test]
    fn ids_sort_in_run_order() {
        let ids: Vec<String> = whole(3, 120, 7).into_iter().map(|trial| trial.id).collect();
        assert_eq!(ids[..4], ["b001-001", "b001-002", "b001-003", "b002-001"]);
        assert!(ids.is_sorted());
        assert_eq!(whole(3, 5, 7)[0].id, "b01-001");
    }

    #[test]
    fn every_order_of_three_comes_up_about_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for trial in whole(3, 6000, 42).chunks(3) {
            let order: Vec<usize> = trial.iter().map(|trial| trial.configuration).collect();
            *counts.entry(order).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // The expected count of each is 1000, with a standard deviation of 29.
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_order_of_a_split_plan_never_changes() {
        let order: Vec<usize> = trials(&[vec![vec![0, 1, 2]], vec![vec![3, 4, 5]]], 2, 1)
            .iter()
            .map(|of| of.configuration)
            .collect();
        assert_eq!(order, [5, 4, 3, 0, 2, 1, 5, 3, 4, 1, 2, 0]);
    }

    #[test]
    fn all_orders_of_and_within_restart_groups_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for block in
            trials(&[vec![vec![0, 1]], vec![vec![2, 3]], vec![vec![4]]], 4800, 42).chunks(5)
        {
            let order: Vec<usize> = block.iter().map(|trial| trial.configuration).collect();
            *counts.entry(order).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6 * 2 * 2);
        // The expected count of each is 200, with a standard deviation of 14.
        assert!(counts.values().all(|count| (140..260).contains(count)), "{counts:?}");
    }

    #[test]
    fn configurations_on_one_data_set_follow_each_other_in_every_order() {
        let mut counts = std::collections::BTreeMap::new();
        let restart_groups = [vec![vec![0, 3], vec![1], vec![2]], vec![vec![4]]];
        for block in trials(&restart_groups, 4800, 42).chunks(5) {
            let order: Vec<usize> = block.iter().map(|trial| trial.configuration).collect();
            let at = |configuration: usize| {
                order.iter().position(|other| *other == configuration).unwrap()
            };
            assert_eq!(at(0).abs_diff(at(3)), 1, "{order:?}");
            assert!([0, 4].contains(&at(4)), "{order:?}");
            *counts.entry(order).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 2 * 6 * 2);
        // The expected count of each is 200, with a standard deviation of 14.
        assert!(counts.values().all(|count| (140..260).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn a_restart_group_is_never_interrupted(lengths in proptest::collection::vec(1_usize..6, 1..8), blocks in 1_u32..5, seed: u64) {
            let mut next = 0;
            let restart_groups: Vec<GroupOrder> = lengths.iter().map(|length| {
                next += length;
                vec![(next - length..next).collect()]
            }).collect();
            let plot_of = |configuration: usize| restart_groups.iter().position(|restart_group| restart_group[0].contains(&configuration)).unwrap();
            for block in trials(&restart_groups, blocks, seed).chunks(next) {
                let mut order: Vec<usize> = block.iter().map(|trial| plot_of(trial.configuration)).collect();
                order.dedup();
                prop_assert_eq!(order.len(), restart_groups.len());
            }
        }

        #[test]
        fn each_block_is_a_permutation_of_all_configurations(length in 1_usize..60, blocks in 1_u32..8, seed: u64) {
            let trials = whole(length, blocks, seed);
            prop_assert_eq!(trials.len(), length * blocks as usize);
            for (block, chunk) in (1..).zip(trials.chunks(length)) {
                let mut configurations: Vec<usize> = chunk.iter().map(|trial| trial.configuration).collect();
                configurations.sort_unstable();
                prop_assert_eq!(configurations, (0..length).collect::<Vec<_>>());
                prop_assert!(chunk.iter().all(|trial| trial.block == block));
            }
        }

        #[test]
        fn more_blocks_leave_the_earlier_ones_alone(length in 1_usize..30, blocks in 1_u32..5, seed: u64) {
            let few: Vec<usize> = whole(length, blocks, seed).iter().map(|trial| trial.configuration).collect();
            let more: Vec<usize> = whole(length, blocks + 1, seed).iter().map(|trial| trial.configuration).collect();
            prop_assert_eq!(&few[..], &more[..few.len()]);
        }
    }
}
