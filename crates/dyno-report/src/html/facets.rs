//! Facets: which series share a panel. A panel contains the series that the experiment compares. If
//! the spec does not define the comparison, and there are several systems and several levels, a
//! panel contains the systems at one combination of levels.

use crate::chart::palette::{SLOTS, Slot};
use dyno_analysis::level_name;
use dyno_analysis::model::{ReportModel, SeriesName};
use dyno_model::lists::distinct;
use dyno_model::plan::Compare;
use dyno_model::words::short_factor;

/// One panel: its series, and their names in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facet {
    /// The common properties of its series, with the names of the factors; empty when there is only
    /// one panel.
    pub(super) title: String,
    /// The same without the names of the factors, for narrow layouts.
    pub(super) short: String,
    pub(super) members: Vec<Member>,
}

/// Maximum length of a panel's title, in characters, for three panels in a row.
const TITLE_LENGTH: usize = 28;

impl Facet {
    /// Its heading. Truncated headings of two panels may be equal.
    pub(super) fn heading(&self) -> &str {
        if self.title.chars().count() > TITLE_LENGTH { &self.short } else { &self.title }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Index into [`ReportModel::series`].
    pub(super) series: usize,
    /// Name within the panel: a system, or levels with their factors.
    pub(super) label: String,
    /// Colour, dash and marker; the same for the same name in every panel.
    pub(super) slot: Slot,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facets {
    /// Panels in order of their first series; at least one if there is a series.
    pub(super) all: Vec<Facet>,
}

impl Facets {
    pub(super) fn of(model: &ReportModel) -> Self {
        let curves = curves(model);
        let mut facets: Vec<(Vec<PanelProperty>, Facet)> = Vec::new();
        for (i, series) in model.series.iter().enumerate() {
            let (key, label) = panel_and_label(model, &curves, series);
            let position =
                facets.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                    let title = key.iter().map(|(factor, level)| match factor {
                        Some(factor) => format!("{} = {level}", short_factor(factor)),
                        None => level.clone(),
                    });
                    let title = title.collect::<Vec<_>>().join(", ");
                    let short =
                        key.iter().map(|(_, level)| level.as_str()).collect::<Vec<_>>().join(", ");
                    facets.push((key, Facet { title, short, members: Vec::new() }));
                    facets.len() - 1
                });
            facets[position].1.members.push(Member { series: i, label, slot: Slot(0) });
        }
        let mut all: Vec<Facet> = facets.into_iter().map(|(_, facet)| facet).collect();
        let labels = distinct(
            all.iter().flat_map(|facet| &facet.members).map(|member| member.label.clone()),
        );
        for member in all.iter_mut().flat_map(|facet| &mut facet.members) {
            let position = labels.iter().position(|label| *label == member.label);
            member.slot = Slot(position.expect("every label is in the list"));
        }
        Self { all }
    }

    /// Number of distinct names of series.
    pub(super) fn names(&self) -> usize {
        distinct(self.all.iter().flat_map(|facet| &facet.members).map(|member| &member.label)).len()
    }

    /// The slot of curves with this name, with or without its factor, if there are any.
    pub(super) fn slot_of_name(&self, name: &str) -> Option<Slot> {
        let is_it = |label: &str| {
            label == name || label.strip_suffix(name).is_some_and(|it| it.ends_with(' '))
        };
        self.members().find(|member| is_it(&member.label)).map(|member| member.slot)
    }

    /// The slot of a system's curves, if each curve is a system.
    pub(super) fn slot_of_system(&self, model: &ReportModel, system: usize) -> Option<Slot> {
        let is_its_own = |member: &&Member| {
            let series = &model.series[member.series];
            series.system == system && series.system_name == member.label
        };
        self.members().find(is_its_own).map(|member| member.slot)
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        self.all.iter().flat_map(|facet| &facet.members)
    }
}

/// A common property of a panel's series: a level with its factor, or a system.
type PanelProperty = (Option<String>, String);

/// What distinguishes the curves within a panel.
enum Curves {
    Systems,
    Factor(usize),
    /// All combinations, which are few enough for one panel.
    Combinations,
}

fn curves(model: &ReportModel) -> Curves {
    let systems = distinct(model.series.iter().map(|series| series.system)).len();
    let combinations = distinct(model.series.iter().map(|series| &series.levels)).len();
    match model.compare {
        Some(Compare::System) => Curves::Systems,
        Some(Compare::Factor(factor)) => Curves::Factor(factor),
        None if systems > 1 || combinations == 1 => Curves::Systems,
        // One system, many combinations: the last factor distinguishes curves, the others panels.
        None if combinations > SLOTS && model.factors.len() > 1 => {
            Curves::Factor(model.factors.len() - 1)
        }
        None => Curves::Combinations,
    }
}

/// The panel of a series and the name of the series there.
fn panel_and_label(
    model: &ReportModel,
    curves: &Curves,
    series: &SeriesName,
) -> (Vec<PanelProperty>, String) {
    let levels = model.factors.iter().cloned().map(Some).zip(series.levels.iter().cloned());
    let level = |index: usize| level_name(&model.factors[index], &series.levels[index]);
    match *curves {
        Curves::Systems => (levels.collect(), series.system_name.clone()),
        Curves::Combinations => {
            let differs = |index: &usize| {
                model.series.iter().any(|other| other.levels[*index] != series.levels[*index])
            };
            let levels: Vec<String> = (0..series.levels.len()).filter(differs).map(level).collect();
            (Vec::new(), levels.join(", "))
        }
        Curves::Factor(factor) => {
            let several = model.series.iter().any(|other| other.system != series.system);
            let system = several.then(|| (None, series.system_name.clone()));
            let others =
                levels.enumerate().filter(|(index, _)| *index != factor).map(|(_, level)| level);
            (system.into_iter().chain(others).collect(), level(factor))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_for_which_there_is_no_room_is_reported_without_its_factors() {
        let facet = |title: &str, short: &str| Facet {
            title: title.to_owned(),
            short: short.to_owned(),
            members: Vec::new(),
        };
        assert_eq!(facet("variant = in-place", "in-place").heading(), "variant = in-place");
        // Truncated, both would be `variant = read-modify-write, isolation…`.
        let both = ["read-committed", "serializable"].map(|level| {
            let short = format!("read-modify-write, {level}");
            facet(&format!("variant = read-modify-write, isolation = {level}"), &short)
                .heading()
                .to_owned()
        });
        assert_eq!(both, ["read-modify-write, read-committed", "read-modify-write, serializable"]);
    }
}
