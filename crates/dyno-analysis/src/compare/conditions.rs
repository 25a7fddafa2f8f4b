//! Reasons why two sides are hard to compare: different conditions, unusable trials, the time
//! between the runs.

use super::matching::Matching;
use super::measured::Sides;
use super::pool::{Pool, PooledConfiguration, kind, load_differences, workload_differences};
use crate::checks::add_warning;
use crate::compare::model::{
    CompareWarning, CompareWarningKind, Condition, ConfigurationName, Difference, Differing,
    Property, SideName, Value,
};
use crate::eligibility::main_reason;
use crate::estimate::as_u32;
use crate::figures;
use crate::model::WarningRow;
use dyno_model::audit::AuditVerdict;
use dyno_model::lists;
use dyno_model::plan::{DataPolicy, ExistingSystem, SystemPlan, SystemSource};
use dyno_model::record::TrialRecord;
use dyno_model::schema::Schema;
use dyno_model::warning::{Severity, Warning};
use dyno_store::environment::Environment;
use dyno_store::{Problem, Run, SystemReport, TrialOutcome, seconds_between};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

/// Maximum number of unreadable locations listed per side.
const PLACES_MAX: usize = 3;

/// A side with the names of its configurations.
type Named<'a> = (&'a Pool<'a>, &'a [ConfigurationName]);

/// All warnings that follow from runs and plans.
pub(super) fn warnings(
    (base, base_names): Named<'_>,
    (new, new_names): Named<'_>,
    matching: &Matching,
) -> Vec<CompareWarning> {
    let pools = [(SideName::Base, base), (SideName::New, new)];
    let mut warnings = Warnings(Vec::new());
    audits(&mut warnings, SideName::Base, (base, base_names));
    audits(&mut warnings, SideName::New, (new, new_names));
    not_working(&mut warnings, SideName::Base, (base, base_names));
    not_working(&mut warnings, SideName::New, (new, new_names));
    environments(&mut warnings, base, new);
    systems(&mut warnings, base, new, matching);
    plans(&mut warnings, base, new, matching);
    scripts(&mut warnings, base, new);
    schemas(&mut warnings, base, new, matching);
    trials(&mut warnings, base, new);
    for (side, pool) in pools {
        folders(&mut warnings, side, pool);
    }
    time_between(&mut warnings, base, new);
    warnings.0
}

struct Warnings(Vec<CompareWarning>);

impl Warnings {
    fn add(&mut self, severity: Severity, kind: CompareWarningKind) {
        self.0.push(CompareWarning { severity, kind });
    }

    /// Adds a warning for conditions that differ, if any do.
    fn add_difference(&mut self, condition: Condition, system: &str, values: Vec<Difference>) {
        if !values.is_empty() {
            let system = system.to_owned();
            self.add(Severity::Warning, CompareWarningKind::Differs { condition, system, values });
        }
    }
}

/// Values of both sides under one name.
#[derive(Default)]
struct ValuesOfSides {
    base: BTreeSet<Value>,
    new: BTreeSet<Value>,
}

impl ValuesOfSides {
    fn of(base: impl IntoIterator<Item = Value>, new: impl IntoIterator<Item = Value>) -> Self {
        Self { base: base.into_iter().collect(), new: new.into_iter().collect() }
    }

    /// The difference; `None` if all runs of both sides have the same value.
    fn difference(self, what: impl Into<Differing>) -> Option<Difference> {
        let Self { base, new } = self;
        (base.union(&new).count() > 1).then(|| Difference { what: what.into(), base, new })
    }
}

/// A property with the function that reads its value from a system's plan.
type SystemProperty = (Property, fn(&SystemPlan) -> Value);

/// A property with the function that reads its value from a run.
type RunProperty = (Property, fn(&Run) -> Value);

fn properties(base: &Pool<'_>, new: &Pool<'_>, properties: &[RunProperty]) -> Vec<Difference> {
    let values =
        |pool: &Pool<'_>, of: fn(&Run) -> Value| pool.runs.iter().map(|run| of(run)).collect();
    let values = |of| ValuesOfSides { base: values(base, of), new: values(new, of) };
    properties.iter().filter_map(|(name, of)| values(*of).difference(*name)).collect()
}

/// Compares maps of settings. A setting that exists in only one run is a difference, too.
fn maps(base: &[BTreeMap<String, String>], new: &[BTreeMap<String, String>]) -> Vec<Difference> {
    let names: BTreeSet<&String> = base.iter().chain(new).flat_map(BTreeMap::keys).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let values = |side: &[BTreeMap<String, String>]| {
                side.iter()
                    .map(|map| Value::Text(map.get(name).cloned().unwrap_or_default()))
                    .collect()
            };
            ValuesOfSides { base: values(base), new: values(new) }
                .difference(Differing::Name(name.clone()))
        })
        .collect()
}

/// A function that reads one of the maps of an environment.
type EnvironmentMap = fn(&Environment) -> &BTreeMap<String, String>;

const ENVIRONMENT_MAPS: [(Condition, EnvironmentMap); 2] = [
    (Condition::KernelSettings, |environment| &environment.kernel_settings),
    (Condition::Proxies, |environment| &environment.proxies),
];

fn environments(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>) {
    let machine: [RunProperty; 7] = [
        (Property::Processor, |run| Value::text(&run.environment.cpu_model)),
        (Property::Processors, |run| Value::text(&run.environment.cpu_logical)),
        (Property::ProcessorsUsable, |run| Value::text(&run.environment.cpu_usable)),
        (Property::Cores, |run| Value::text(&run.environment.cpu_cores)),
        // The same machine may report a few kilobytes more or less after a restart.
        (Property::Memory, |run| Value::Text(figures::megabytes(run.environment.memory_bytes))),
        (Property::Architecture, |run| Value::text(&run.environment.architecture)),
        (Property::Virtualisation, |run| {
            Value::Virtualisation(run.environment.virtualisation.clone())
        }),
    ];
    warnings.add_difference(Condition::Machine, "", properties(base, new, &machine));
    let kernel: [RunProperty; 2] = [
        (Property::Kernel, |run| Value::text(&run.environment.kernel)),
        (Property::Distribution, |run| Value::text(&run.environment.os_release)),
    ];
    warnings.add_difference(Condition::Kernel, "", properties(base, new, &kernel));
    for (condition, pick) in ENVIRONMENT_MAPS {
        let of = |pool: &Pool<'_>| -> Vec<BTreeMap<String, String>> {
            pool.runs.iter().map(|run| pick(&run.environment).clone()).collect()
        };
        warnings.add_difference(condition, "", maps(&of(base), &of(new)));
    }
    let dyno: [RunProperty; 2] = [
        (Property::Version, |run| match run.dyno_version.as_str() {
            "" => Value::text(&run.environment.dyno_version),
            version => Value::text(&version),
        }),
        (Property::Build, |run| Value::text(&run.environment.build_profile)),
    ];
    warnings.add_difference(Condition::Dyno, "", properties(base, new, &dyno));
}

/// Systems of matched configurations, each pair once.
fn matched_systems<'a>(
    base: &Pool<'a>,
    new: &Pool<'a>,
    matching: &Matching,
) -> Vec<(&'a str, &'a str)> {
    let systems = |(one, other): &(usize, usize)| {
        (base.configurations[*one].system, new.configurations[*other].system)
    };
    lists::distinct(matching.pairs.iter().map(systems))
}

fn systems(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>, matching: &Matching) {
    for (one, other) in matched_systems(base, new, matching) {
        if one != other {
            let kind =
                CompareWarningKind::OtherName { base: one.to_owned(), new: other.to_owned() };
            warnings.add(Severity::Note, kind);
        }
        let plan = |pool: &Pool<'_>, name: &str| {
            pool.systems.iter().copied().find(|system| system.name == name).cloned()
        };
        if let (Some(of_base), Some(of_new)) = (plan(base, one), plan(new, other)) {
            let of: [SystemProperty; 3] = [
                (Property::Kind, kind),
                (Property::QueryMode, |system| Value::text(&system.query_mode)),
                (Property::Encryption, |system| match &system.source {
                    SystemSource::Existing(existing) => {
                        Value::Text(format!("{:?}", existing.tls).to_lowercase())
                    }
                    SystemSource::Managed(_) | SystemSource::Imported => Value::text(&""),
                }),
            ];
            let values = of.iter().filter_map(|(name, of)| {
                ValuesOfSides::of([of(&of_base)], [of(&of_new)]).difference(*name)
            });
            warnings.add_difference(Condition::System, one, values.collect());
        }
        let reports = |pool: &Pool<'_>, name: &str| {
            pool.runs.iter().filter_map(|run| run.systems.get(name).cloned()).collect::<Vec<_>>()
        };
        let (of_base, of_new) = (reports(base, one), reports(new, other));
        let versions = |all: &[SystemReport]| {
            all.iter().map(|it| Value::Version(it.version.clone())).collect()
        };
        let version = ValuesOfSides { base: versions(&of_base), new: versions(&of_new) };
        let version = version.difference(Property::Version);
        warnings.add_difference(Condition::ServerVersion, one, version.into_iter().collect());
        // If one side has none read back, every setting would seem to differ.
        let are_known =
            |reports: &[SystemReport]| reports.iter().any(|report| !report.settings.is_empty());
        if are_known(&of_base) && are_known(&of_new) {
            let settings = |reports: &'_ [SystemReport]| -> Vec<_> {
                reports.iter().map(|report| report.settings.clone()).collect()
            };
            warnings.add_difference(
                Condition::Settings,
                one,
                maps(&settings(&of_base), &settings(&of_new)),
            );
        } else {
            warnings.add(
                Severity::Note,
                CompareWarningKind::SettingsUnknown { system: one.to_owned() },
            );
        }
    }
}

/// Load rules that differ, and workload options that only one side has; the same difference in
/// several configurations is listed once.
fn plans(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>, matching: &Matching) {
    let mut load: BTreeMap<Differing, ValuesOfSides> = BTreeMap::new();
    let mut workload: BTreeMap<Differing, ValuesOfSides> = BTreeMap::new();
    for (one, other) in &matching.pairs {
        let (one, other) =
            (base.configurations[*one].configuration, new.configurations[*other].configuration);
        for (differences, into) in [
            (load_differences(one, other), &mut load),
            (workload_differences(one, other), &mut workload),
        ] {
            for (name, of_base, of_new) in differences {
                let values = into.entry(name).or_default();
                values.base.insert(of_base);
                values.new.insert(of_new);
            }
        }
    }
    let differences = |values: BTreeMap<Differing, ValuesOfSides>| -> Vec<Difference> {
        values.into_iter().filter_map(|(what, values)| values.difference(what)).collect()
    };
    warnings.add_difference(Condition::Load, "", differences(load));
    warnings.add_difference(Condition::Workload, "", differences(workload));
}

/// Differences in the contents of the databases; the same difference in several configurations is
/// listed once.
fn schemas(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>, matching: &Matching) {
    let found = |(one, other): &(usize, usize)| {
        Some((base.configurations[*one].schema?.0, new.configurations[*other].schema?.0))
    };
    let pairs: Vec<(&Schema, &Schema)> = matching.pairs.iter().filter_map(found).collect();
    let difference = |name, base, new| Difference {
        what: Differing::Name(name),
        base: [base].into(),
        new: [new].into(),
    };
    let differences = pairs.iter().flat_map(|(base, new)| base.differences(new));
    let differences =
        differences.map(|(name, base, new)| difference(name, Value::Text(base), Value::Text(new)));
    warnings.add_difference(Condition::Schema, "", lists::distinct(differences));
    let sizes = pairs.iter().flat_map(|(base, new)| base.size_differences(new));
    let sizes = sizes
        .map(|(name, base, new)| difference(name, Value::TableSize(base), Value::TableSize(new)));
    warnings.add_difference(Condition::TableSizes, "", lists::distinct(sizes));
}

/// Runs of a single trial have no spec (`dyno_model::single`). They store the text of the scripts
/// instead, separated by comment lines; the plan has only the names of the scripts.
fn scripts(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>) {
    let has_spec = |run: &&Run| {
        let [configuration] = &run.plan.configurations[..] else { return true };
        let is_own = matches!(
            &run.plan.systems[configuration.system].source,
            SystemSource::Managed(_)
                | SystemSource::Existing(ExistingSystem {
                    data: DataPolicy::Own | DataPolicy::Copy,
                    ..
                })
        );
        is_own || configuration.workload.kind != run.plan.name
    };
    if base.runs.iter().copied().chain(new.runs.iter().copied()).any(|run| has_spec(&run)) {
        return;
    }
    let lines = |pool: &Pool<'_>| -> BTreeSet<String> {
        let lines = pool.runs.iter().flat_map(|run| run.spec.lines());
        let statements =
            lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        statements.map(str::to_owned).collect()
    };
    let (of_base, of_new) = (lines(base), lines(new));
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> BTreeSet<Value> {
        one.difference(other).map(Value::text).collect()
    };
    let (base, new) = (only(&of_base, &of_new), only(&of_new, &of_base));
    if !(base.is_empty() && new.is_empty()) {
        let difference = Difference { what: Property::Lines.into(), base, new };
        warnings.add_difference(Condition::Scripts, "", vec![difference]);
    }
}

fn audits(warnings: &mut Warnings, side: SideName, (pool, names): Named<'_>) {
    let is_violated = |index: &usize| {
        let mut records = pool.configurations[*index].records.iter();
        records.any(|record| record.worst_audit() == AuditVerdict::Violated)
    };
    let violated = (0..pool.configurations.len()).filter(is_violated);
    let configurations: Vec<ConfigurationName> =
        violated.map(|index| names[index].clone()).collect();
    if !configurations.is_empty() {
        warnings.add(Severity::Invalid, CompareWarningKind::AuditViolated { side, configurations });
    }
}

fn not_working(warnings: &mut Warnings, side: SideName, (pool, names): Named<'_>) {
    let trials = pool.configurations.iter().map(|pooled| pooled.eligibility.not_working());
    let configurations: Vec<_> = names
        .iter()
        .zip(trials)
        .filter_map(|(name, trials)| Some((name.clone(), trials?)))
        .collect();
    if !configurations.is_empty() {
        warnings.add(Severity::Invalid, CompareWarningKind::DidNotWork { side, configurations });
    }
}

/// Missing and invalid trials, and warnings about the compared trials. Both sides are listed
/// together, because a warning that applies to both is not a difference.
fn trials(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>) {
    let mut of_sides = Vec::new();
    for (side, pool) in [(SideName::Base, base), (SideName::New, new)] {
        let (planned, measured) = (
            as_u32(pool.runs.iter().map(|run| run.plan.trials.len()).sum()),
            as_u32(records(pool).count()),
        );
        if measured < planned {
            let kind =
                CompareWarningKind::MissingTrials { side, missing: planned - measured, planned };
            warnings.add(Severity::Warning, kind);
        }
        let mut rows = Vec::new();
        for warning in pool.runs.iter().flat_map(|run| &run.warnings) {
            add_warning(&mut rows, warning, warning.severity(), None);
        }
        for row in rows.into_iter().filter(|row| row.severity > Severity::Note) {
            warnings.add(Severity::Warning, CompareWarningKind::Runs { side, about: row.warning });
        }
        let rows = run_warnings(pool);
        if let Some(reason) = main_reason(&rows) {
            let invalid = as_u32(records(pool).filter(|record| !record.is_valid()).count());
            let kind = CompareWarningKind::InvalidTrials {
                side,
                invalid,
                measured,
                because: reason.warning.clone(),
            };
            warnings.add(Severity::Warning, kind);
        }
        of_sides.push((measured, rows));
    }
    let [(base_measured, of_base), (new_measured, of_new)] = &of_sides[..] else { return };
    let is_warning = |row: &&WarningRow| row.severity == Severity::Warning;
    let same = |one: &WarningRow, other: &WarningRow| {
        discriminant(&one.warning) == discriminant(&other.warning)
    };
    let mut add = |base: Option<&WarningRow>, new: Option<&WarningRow>| {
        let trials = |row: Option<&WarningRow>| as_u32(row.map_or(0, |row| row.trials.len()));
        let Some(about) = base.or(new).map(|row| row.warning.clone()) else { return };
        let (base_measured, new_measured) = (*base_measured, *new_measured);
        let (base, new) = (trials(base), trials(new));
        let kind = CompareWarningKind::Trials { base, base_measured, new, new_measured, about };
        warnings.add(Severity::Warning, kind);
    };
    for row in of_base.iter().filter(is_warning) {
        add(Some(row), of_new.iter().filter(is_warning).find(|other| same(row, other)));
    }
    let has = |row: &&WarningRow| of_base.iter().filter(is_warning).any(|other| same(row, other));
    for row in of_new.iter().filter(is_warning).filter(|row| !has(row)) {
        add(None, Some(row));
    }
}

fn records<'a>(pool: &'a Pool<'_>) -> impl Iterator<Item = &'a TrialRecord> {
    pool.configurations.iter().flat_map(|configuration| configuration.records.iter().copied())
}

/// Warnings about trials, one row per kind and severity, most frequent first.
fn run_warnings(pool: &Pool<'_>) -> Vec<WarningRow> {
    let mut rows: Vec<WarningRow> = Vec::new();
    for (index, record) in records(pool).enumerate() {
        // Trial names repeat from run to run; their indexes do not.
        for warning in &record.warnings {
            let of = (&*index.to_string(), record.trial.configuration);
            add_warning(&mut rows, warning, record.severity(warning), Some(of));
        }
    }
    for row in &mut rows {
        row.trials.dedup();
    }
    // A failed audit is reported with its configurations.
    rows.retain(|row| row.severity > Severity::Note && row.warning != Warning::AuditViolated);
    rows.sort_by_key(|row| std::cmp::Reverse(row.trials.len()));
    rows
}

/// Runs without a measured trial, runs without a recorded end, and unreadable locations in their
/// folders.
fn folders(warnings: &mut Warnings, side: SideName, pool: &Pool<'_>) {
    let names = |is_meant: fn(&Run) -> bool| -> Vec<String> {
        pool.runs.iter().filter(|run| is_meant(run)).map(|run| run.name.clone()).collect()
    };
    let runs =
        names(|run| !run.outcomes.values().any(|it| matches!(it, TrialOutcome::Finished(_))));
    if !runs.is_empty() {
        warnings.add(Severity::Warning, CompareWarningKind::NothingMeasured { side, runs });
    }
    let runs = names(|run| !run.has_ended);
    if !runs.is_empty() {
        warnings.add(Severity::Warning, CompareWarningKind::NotEnded { side, runs });
    }
    let below = |run: &Run, problem: &Problem| Problem {
        location: format!("{}/{}", run.name, problem.location),
        ..problem.clone()
    };
    let all = pool.runs.iter().flat_map(|run| run.problems.iter().map(move |it| below(run, it)));
    let all: Vec<Problem> = all.collect();
    if !all.is_empty() {
        let (what, places) = (all.iter().take(PLACES_MAX).cloned().collect(), as_u32(all.len()));
        warnings.add(Severity::Warning, CompareWarningKind::Unreadable { side, what, places });
    }
}

/// A warning if the runs of the sides did not alternate: the ratios then include anything that
/// changed in between.
fn time_between(warnings: &mut Warnings, base: &Pool<'_>, new: &Pool<'_>) {
    let ends = |pool: &Pool<'_>| {
        let first = pool
            .runs
            .iter()
            .map(|run| run.started_at.clone())
            .filter(|time| !time.is_empty())
            .min();
        let last = pool.runs.iter().map(|run| run.ended_at.clone()).max();
        first.zip(last)
    };
    let (Some(of_base), Some(of_new)) = (ends(base), ends(new)) else { return };
    let gap = |before: &(String, String), after: &(String, String)| {
        seconds_between(&before.1, &after.0).filter(|gap| *gap >= 0.0)
    };
    let kind = match (gap(&of_base, &of_new), gap(&of_new, &of_base)) {
        (Some(gap_s), _) => CompareWarningKind::OneAfterTheOther { first: SideName::Base, gap_s },
        (None, Some(gap_s)) => CompareWarningKind::OneAfterTheOther { first: SideName::New, gap_s },
        (None, None) => CompareWarningKind::Alternating,
    };
    warnings.add(Severity::Note, kind);
}

/// A warning if each configuration was measured in one run of each side: differences between runs
/// are then part of the change and not of any error.
pub(super) fn one_run_each(pairs: &[Sides<'_>]) -> Option<CompareWarning> {
    let runs = |side: &PooledConfiguration<'_>| {
        side.origins.iter().map(|origin| origin.run).collect::<BTreeSet<_>>().len()
    };
    let is_one = pairs.iter().all(|(base, new)| runs(base) <= 1 && runs(new) <= 1);
    let is_any = pairs.iter().any(|(base, new)| runs(base) + runs(new) == 2);
    (is_one && is_any).then_some(CompareWarning {
        severity: Severity::Note,
        kind: CompareWarningKind::OneRunEach,
    })
}
