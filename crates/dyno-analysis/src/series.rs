//! Series of charts: systems with their levels, and the names of the series.

use crate::model::SeriesName;
use dyno_model::plan::{Configuration, Plan};
use dyno_model::words::short_factor;
use std::collections::BTreeSet;

/// Series in the order in which the plan's configurations first need them, and the index of each
/// configuration's series.
pub(crate) fn all_series(plan: &Plan) -> (Vec<SeriesName>, Vec<usize>) {
    let varied = varied(&plan.factors, &plan.configurations.iter().collect::<Vec<_>>());
    let mut series: Vec<SeriesName> = Vec::new();
    let series_of = plan
        .configurations
        .iter()
        .map(|configuration| {
            let same = |series: &SeriesName| {
                series.system == configuration.system && series.levels == configuration.levels
            };
            series.iter().position(same).unwrap_or_else(|| {
                series.push(series_name(plan, configuration, &varied));
                series.len() - 1
            })
        })
        .collect();
    (series, series_of)
}

/// For each factor, whether the configurations have more than one level of it.
pub(crate) fn varied(factors: &[String], configurations: &[&Configuration]) -> Vec<bool> {
    let levels = |factor: usize| {
        configurations.iter().map(move |configuration| &configuration.levels[factor])
    };
    (0..factors.len()).map(|factor| levels(factor).collect::<BTreeSet<_>>().len() > 1).collect()
}

/// The name of a level. A number or a boolean, which means little alone, gets the last part of its
/// factor's name.
#[must_use]
pub fn level_name(factor: &str, level: &str) -> String {
    let speaks_alone = level.chars().filter(|c| c.is_alphabetic()).count() > 3
        && !matches!(level, "true" | "false");
    let name = short_factor(factor);
    if speaks_alone { level.to_owned() } else { format!("{name} {level}") }
}

/// `System (level, level)`, with only the factors that vary.
pub(crate) fn series_name(
    plan: &Plan,
    configuration: &Configuration,
    varied: &[bool],
) -> SeriesName {
    let system = &plan.systems[configuration.system];
    let levels: Vec<String> = plan
        .factors
        .iter()
        .zip(&configuration.levels)
        .zip(varied)
        .filter(|(_, is_varied)| **is_varied)
        .map(|((factor, level), _)| level_name(factor, level))
        .collect();
    let label = if levels.is_empty() {
        system.name.clone()
    } else {
        format!("{} ({})", system.name, levels.join(", "))
    };
    SeriesName {
        label,
        system: configuration.system,
        system_name: system.name.clone(),
        levels: configuration.levels.clone(),
    }
}
