//! Which lines share a panel. With several systems and several levels, a panel holds the systems at one combination of
//! levels, so that systems are compared inside a panel and levels across panels.

use crate::report::chart::palette::{SLOTS, Slot};
use crate::report::model::ReportModel;

/// One panel: some lines, and how they are called in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facet {
    /// What its lines have in common, with the names of the factors; empty when there is only one panel.
    pub(super) title: String,
    /// The same without the names of the factors, for narrow places.
    pub(super) short: String,
    /// Its lines.
    pub(super) members: Vec<Member>,
}

/// A line in a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Index into [`ReportModel::lines`].
    pub(super) line: usize,
    /// Name inside the panel.
    pub(super) label: String,
    /// Colour, dash and marker; the same for the same name in every panel.
    pub(super) slot: Slot,
}

/// All panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facets {
    /// Panels in order of their first line; at least one if there is a line.
    pub(super) all: Vec<Facet>,
}

impl Facets {
    pub(super) fn of(model: &ReportModel) -> Self {
        let mut systems = distinct(model.lines.iter().map(|line| line.system));
        systems.sort_unstable();
        let combinations = distinct(model.lines.iter().map(|line| line.levels.clone()));
        let by_system = systems.len() > 1 && combinations.len() > 1;
        let mut facets: Vec<(Vec<String>, Facet)> = Vec::new();
        for (i, line) in model.lines.iter().enumerate() {
            let (key, label) = if by_system {
                (line.levels.clone(), line.system_name.clone())
            } else if combinations.len() > SLOTS && line.levels.len() > 1 {
                // One system, many combinations: the last factor makes the lines, the others the panels.
                let (last, others) = line.levels.split_last().expect("there are at least two levels");
                (others.to_vec(), last.clone())
            } else if combinations.len() > 1 {
                (Vec::new(), line.levels.join(", "))
            } else {
                (Vec::new(), line.system_name.clone())
            };
            let title = model
                .factors
                .iter()
                .zip(&key)
                .map(|(factor, level)| format!("{} = {level}", short_factor(factor)))
                .collect::<Vec<_>>()
                .join(", ");
            let facet = match facets.iter().position(|(other, _)| *other == key) {
                Some(position) => position,
                None => {
                    let short = key.join(", ");
                    facets.push((key, Facet { title, short, members: Vec::new() }));
                    facets.len() - 1
                }
            };
            facets[facet].1.members.push(Member { line: i, label, slot: Slot(0) });
        }
        let mut all: Vec<Facet> = facets.into_iter().map(|(_, facet)| facet).collect();
        let labels = distinct(all.iter().flat_map(|facet| &facet.members).map(|member| member.label.clone()));
        for member in all.iter_mut().flat_map(|facet| &mut facet.members) {
            let position = labels.iter().position(|label| *label == member.label);
            member.slot = Slot(position.expect("every label is in the list"));
        }
        Self { all }
    }

    /// Number of different names of lines.
    pub(super) fn names(&self) -> usize {
        distinct(self.all.iter().flat_map(|facet| &facet.members).map(|member| &member.label)).len()
    }

    /// The slot of a system's first line, if it has one.
    pub(super) fn slot_of_system(&self, model: &ReportModel, system: usize) -> Option<Slot> {
        let members = self.all.iter().flat_map(|facet| &facet.members);
        members.into_iter().find(|member| model.lines[member.line].system == system).map(|member| member.slot)
    }
}

/// `workload.variant` is shown as `variant`: inside one report the last part says enough.
pub(super) fn short_factor(factor: &str) -> &str {
    factor.rsplit('.').next().unwrap_or(factor)
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
