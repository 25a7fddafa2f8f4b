//! Matching of the configurations of the two sides.

use super::difference::{Differing, Unequal};
use super::pool::{Pool, PooledConfiguration, workload_differences};
use crate::compare::model::SideName;
use dyno_model::plan::Configuration;
use std::collections::BTreeSet;

/// The result of the matching.
#[derive(Debug)]
pub(super) struct Matching {
    /// Indices of configurations: base, new.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Configurations of the base without a match.
    pub(super) only_base: Vec<usize>,
    /// Configurations of the new side without a match.
    pub(super) only_new: Vec<usize>,
}

/// The reason why configurations could not be matched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    /// The user named a pair of systems that the sides do not have.
    #[error(
        "`{requested}` names no system of each side as BASE=NEW; BASE has {}; NEW has {}",
        quoted(base),
        quoted(new)
    )]
    UnknownSystems {
        /// The pair as the user wrote it.
        requested: String,
        /// Systems of the base.
        base: Vec<String>,
        /// Systems of the new side.
        new: Vec<String>,
    },
    /// The user named a system twice.
    #[error("system `{system}` of {side} is in two pairs")]
    SystemTwice {
        /// The side of the system.
        side: SideName,
        /// Its name.
        system: String,
    },
    /// No configuration of one side matches one of the other.
    #[error("no configuration of BASE is in NEW, so there is nothing to compare; {}", differences.join("; "))]
    Nothing {
        /// The differences, as `name: base against new`.
        differences: Vec<String>,
        /// True if naming pairs of systems may help.
        are_systems_unmatched: bool,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Pairs of configurations with matching systems and equal levels, clients and workload. Workload
/// options that only one side has (another version of dyno, another version of a script) do not
/// prevent a match; they cause a warning.
pub(super) fn matching(
    base: &Pool<'_>,
    new: &Pool<'_>,
    requested: &[String],
) -> Result<Matching, MatchError> {
    let systems = systems(base, new, requested)?;
    let is_partner = |one: &PooledConfiguration<'_>, other: &PooledConfiguration<'_>| {
        systems.contains(&(one.system, other.system))
            && one.configuration.clients == other.configuration.clients
            && levels(base, one.configuration) == levels(new, other.configuration)
            && differences_that_prevent_a_match(one.configuration, other.configuration).is_empty()
    };
    let pairs: Vec<(usize, usize)> = base
        .configurations
        .iter()
        .enumerate()
        .filter_map(|(index, one)| {
            Some((index, new.configurations.iter().position(|other| is_partner(one, other))?))
        })
        .collect();
    if pairs.is_empty() {
        return Err(no_match(base, new, &systems));
    }
    let without = |count: usize, is_taken: &dyn Fn(usize) -> bool| {
        (0..count).filter(|i| !is_taken(*i)).collect()
    };
    let only_base =
        without(base.configurations.len(), &|index| pairs.iter().any(|(one, _)| *one == index));
    let only_new =
        without(new.configurations.len(), &|index| pairs.iter().any(|(_, other)| *other == index));
    Ok(Matching { pairs, only_base, only_new })
}

/// Options with different values on both sides, or a different workload.
fn differences_that_prevent_a_match(one: &Configuration, other: &Configuration) -> Vec<Unequal> {
    let (known, also) = (&one.workload.options.0, &other.workload.options.0);
    let is_other_workload = one.workload.kind != other.workload.kind;
    workload_differences(one, other)
        .into_iter()
        .filter(|(what, ..)| {
            let is_in_both = |name| known.contains_key(name) && also.contains_key(name);
            is_other_workload || matches!(what, Differing::Name(name) if is_in_both(name))
        })
        .collect()
}

fn levels<'a>(pool: &Pool<'a>, configuration: &'a Configuration) -> BTreeSet<(&'a str, &'a str)> {
    pool.factors
        .iter()
        .map(String::as_str)
        .zip(configuration.levels.iter().map(String::as_str))
        .collect()
}

/// Matching systems: the pairs that the user named, then systems of the same name, then, if each
/// side has only one system left, these two.
fn systems<'a>(
    base: &Pool<'a>,
    new: &Pool<'a>,
    requested: &[String],
) -> Result<Vec<(&'a str, &'a str)>, MatchError> {
    let names = |pool: &Pool<'a>| {
        pool.systems.iter().map(|system| system.name.as_str()).collect::<Vec<&str>>()
    };
    let (mut of_base, mut of_new) = (names(base), names(new));
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for text in requested {
        // Names may contain `=`, so every position at which the text can be split is tried.
        let pair = text.match_indices('=').find_map(|(at, _)| {
            let (one, other) = (&text[..at], &text[at + 1..]);
            let find = |pool: &Pool<'a>, wanted: &str| {
                pool.systems.iter().map(|system| system.name.as_str()).find(|name| *name == wanted)
            };
            Some((find(base, one)?, find(new, other)?))
        });
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let Some((one, other)) = pair else {
            let (base, new) = (owned(names(base)), owned(names(new)));
            return Err(MatchError::UnknownSystems { requested: text.clone(), base, new });
        };
        for (side, left, name) in
            [(SideName::Base, &mut of_base, one), (SideName::New, &mut of_new, other)]
        {
            let Some(position) = left.iter().position(|known| *known == name) else {
                return Err(MatchError::SystemTwice { side, system: name.to_owned() });
            };
            left.remove(position);
        }
        pairs.push((one, other));
    }
    let equal: Vec<&str> = of_base.iter().copied().filter(|name| of_new.contains(name)).collect();
    pairs.extend(equal.iter().map(|name| (*name, *name)));
    if let ([one], [other], true) = (&of_base[..], &of_new[..], requested.is_empty())
        && equal.is_empty()
    {
        pairs.push((one, other));
    }
    Ok(pairs)
}

/// The error that lists the differences if nothing matches.
fn no_match(base: &Pool<'_>, new: &Pool<'_>, systems: &[(&str, &str)]) -> MatchError {
    let mut differences = Vec::new();
    let mut differ = |name: &str, of: &dyn Fn(&Pool<'_>) -> BTreeSet<String>| {
        let (one, other) = (of(base), of(new));
        if one.is_disjoint(&other) {
            let list = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
            differences.push(format!("{name}: {} in BASE, {} in NEW", list(one), list(other)));
        }
    };
    if systems.is_empty() {
        differ("systems", &|pool| pool.systems.iter().map(|system| system.name.clone()).collect());
    }
    let configurations =
        |pool: &Pool<'_>, of: &dyn Fn(&Configuration) -> String| -> BTreeSet<String> {
            pool.configurations.iter().map(|pooled| of(pooled.configuration)).collect()
        };
    differ("workload", &|pool| {
        configurations(pool, &|configuration| configuration.workload.kind.clone())
    });
    differ("clients", &|pool| {
        configurations(pool, &|configuration| configuration.clients.to_string())
    });
    differ("factors", &|pool| BTreeSet::from([format!("[{}]", pool.factors.join(", "))]));
    if base.factors == new.factors && !base.factors.is_empty() {
        differ("levels", &|pool| {
            configurations(pool, &|configuration| configuration.levels.join(" / "))
        });
    }
    if differences.is_empty() {
        // Only workload options remain: list those of the first two configurations that could have
        // matched.
        let all = || {
            base.configurations
                .iter()
                .flat_map(|one| new.configurations.iter().map(move |other| (one, other)))
        };
        let differences_of_pairs = all().map(|(one, other)| {
            differences_that_prevent_a_match(one.configuration, other.configuration)
        });
        let fewest = differences_of_pairs
            .filter(|differences| !differences.is_empty())
            .min_by_key(Vec::len)
            .unwrap_or_default();
        differences.extend(
            fewest
                .into_iter()
                .map(|(name, one, other)| format!("{name}: {one} in BASE, {other} in NEW")),
        );
    }
    MatchError::Nothing { differences, are_systems_unmatched: systems.is_empty() }
}
