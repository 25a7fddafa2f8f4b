//! Converts values with their groups into rows of a mixed model, without strata that cannot be
//! separated from others.

use crate::stats::mixed::Row;
use std::collections::{BTreeMap, BTreeSet};

/// A value, and its group in each possible stratum, the outermost first.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedValue<K> {
    /// The value; a logarithm for performance values.
    pub value: f64,
    /// Number of its cell.
    pub cell: usize,
    /// Its groups, one per stratum.
    pub groups: Vec<K>,
}

/// The rows, and the strata they contain. Omitted are strata with no more groups than their parent
/// stratum, strata with a group per value, and strata confounded with cells: a run of each side,
/// when the cells are those of sides.
#[must_use]
pub fn rows<K: Ord>(values: &[GroupedValue<K>]) -> (Vec<Row>, Vec<usize>) {
    let grouping_count = values.first().map_or(0, |value| value.groups.len());
    let mut strata: Vec<(usize, Vec<&K>)> = Vec::new();
    for stratum in 0..grouping_count {
        let keys: BTreeSet<&K> = values.iter().map(|value| &value.groups[stratum]).collect();
        let keys: Vec<&K> = keys.into_iter().collect();
        let outer = strata.last().map_or(1, |(_, groups)| groups.len());
        if keys.len() > outer && keys.len() < values.len() && apart_from_cells(values, stratum) > 0
        {
            strata.push((stratum, keys));
        }
    }
    let row = |value: &GroupedValue<K>| Row {
        value: value.value,
        cell: value.cell,
        groups: strata
            .iter()
            .map(|(stratum, keys)| {
                keys.binary_search(&&value.groups[*stratum]).expect("keys are those of values")
            })
            .collect(),
    };
    (values.iter().map(row).collect(), strata.iter().map(|(stratum, _)| *stratum).collect())
}

/// Degrees of freedom between the groups of a stratum when each cell has its own mean: number of
/// groups minus number of connected components of groups and cells.
fn apart_from_cells<K: Ord>(values: &[GroupedValue<K>], stratum: usize) -> usize {
    // Component of each group, represented by its first group; merged until no cell connects two of
    // them.
    let keys: BTreeSet<&K> = values.iter().map(|value| &value.groups[stratum]).collect();
    let mut sets: BTreeMap<&K, usize> =
        keys.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
    let groups = sets.len();
    let mut of_cell: BTreeMap<usize, usize> = BTreeMap::new();
    for value in values {
        let mine = sets[&value.groups[stratum]];
        let theirs = *of_cell.entry(value.cell).or_insert(mine);
        let (low, high) = (mine.min(theirs), mine.max(theirs));
        sets.values_mut()
            .chain(of_cell.values_mut())
            .filter(|set| **set == high)
            .for_each(|set| *set = low);
    }
    groups - sets.values().collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of cells (side and configuration) in runs and blocks; groups are (run, block).
    fn values(rows: &[(usize, u32, u32)]) -> Vec<GroupedValue<(u32, u32)>> {
        let value = |(cell, run, block): &(usize, u32, u32)| GroupedValue {
            value: 0.0,
            cell: *cell,
            groups: vec![(*run, 0), (*run, *block)],
        };
        rows.iter().map(value).collect()
    }

    #[test]
    fn one_run_per_side_is_confounded_with_the_side_and_several_are_not() {
        // Two configurations (cells 0, 1 of base and 2, 3 of new), two blocks each.
        let run = |cells: [usize; 2], run| {
            cells.into_iter().flat_map(move |cell| [1, 2].map(|block| (cell, run, block)))
        };
        let one_each: Vec<_> = run([0, 1], 1).chain(run([2, 3], 2)).collect();
        assert_eq!(rows(&values(&one_each)).1, [1]);
        let two_of_base: Vec<_> =
            run([0, 1], 1).chain(run([0, 1], 3)).chain(run([2, 3], 2)).collect();
        assert_eq!(rows(&values(&two_of_base)).1, [0, 1]);
        assert_eq!(apart_from_cells(&values(&two_of_base), 0), 1);
        // One run per configuration: nothing is shared either.
        let apart: Vec<_> =
            (0..4).flat_map(|cell| [1, 2].map(|block| (cell, cell as u32, block))).collect();
        assert_eq!(rows(&values(&apart)).1, Vec::<usize>::new());
    }

    #[test]
    fn a_stratum_with_the_groups_of_the_one_around_it_is_left_out() {
        let runs_of_a_block: Vec<_> =
            (0..6).flat_map(|run| [0, 1].map(|cell| (cell, run, 1))).collect();
        let (rows, strata) = rows(&values(&runs_of_a_block));
        assert_eq!(strata, [0]);
        assert_eq!(rows[3], Row { value: 0.0, cell: 1, groups: vec![1] });
    }
}
