//! One side of a comparison: its runs, pooled by configuration.

use super::difference::{Differing, Property, Unequal, Value, Word};
use crate::eligibility::Eligibility;
use crate::stats::sides::Origin;
use dyno_model::catalog::OptionValue;
use dyno_model::client_group::BackgroundPlan;
use dyno_model::plan::{
    Configuration, DataPolicy, ExistingSystem, Stages, StopRule, SystemPlan, SystemSource,
    WorkloadPlan,
};
use dyno_model::record::TrialRecord;
use dyno_model::retry::RetryPolicy;
use dyno_model::schema::{Schema, SchemaDifference};
use dyno_model::search::Search;
use dyno_store::{Run, TrialOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// The trials of one configuration over all runs of a side.
pub(crate) struct PooledConfiguration<'a> {
    /// The configuration as the first run that has it plans it.
    pub(crate) configuration: &'a Configuration,
    /// Name of its system.
    pub(crate) system: &'a str,
    /// The first run with this configuration.
    pub(super) run: &'a Run,
    /// Records of measured trials, in the order of runs and plans.
    pub(super) records: Vec<&'a TrialRecord>,
    /// The eligibility of all its trials.
    pub(super) eligibility: Eligibility<'a>,
    /// The locations (run, block, start, data set) of the compared trials, in their order.
    pub(super) origins: Vec<Origin>,
    /// The schema found in the first trial that recorded one, and the run of that trial.
    pub(super) schema: Option<SchemaOfRun<'a>>,
}

impl<'a> PooledConfiguration<'a> {
    pub(super) fn valid(&self) -> impl Iterator<Item = &'a TrialRecord> {
        self.records.iter().copied().filter(|record| record.is_valid())
    }
}

/// A side: pooled runs.
pub(crate) struct Pool<'a> {
    /// Runs in the order in which they began.
    pub(super) runs: Vec<&'a Run>,
    /// Factors of the experiment.
    pub(super) factors: &'a [String],
    /// Systems by name, in the order in which plans list them.
    pub(crate) systems: Vec<&'a SystemPlan>,
    /// Configurations in the order in which plans list them.
    pub(crate) configurations: Vec<PooledConfiguration<'a>>,
    /// By system name: the schema found by the first trial in a database with existing tables.
    found: BTreeMap<&'a str, SchemaOfRun<'a>>,
}

/// A schema with the run in which it was found.
type SchemaOfRun<'a> = (&'a Schema, &'a Run);

/// Checks that the schema did not change: runs before and after a schema change are not repeats.
fn check_same_schema(
    (known, first): SchemaOfRun<'_>,
    (schema, run): SchemaOfRun<'_>,
    differences: fn(&Schema, &Schema) -> Vec<SchemaDifference>,
) -> Result<(), PoolError> {
    // A change within a run, from one trial to the next, is not a difference between runs.
    if std::ptr::eq(first, run) {
        return Ok(());
    }
    let differences = differences(known, schema).into_iter();
    let differences: Vec<_> = differences
        .map(|(name, one, two)| (Differing::Name(name), Value::Text(one), Value::Text(two)))
        .collect();
    if differences.is_empty() { Ok(()) } else { Err(plans_differ(differences, first, run)) }
}

/// True for a system that works in tables that existed before the run.
fn uses_existing_tables(system: &SystemPlan) -> bool {
    matches!(&system.source, SystemSource::Existing(existing) if existing.data == DataPolicy::Existing)
}

/// The reason why runs are not repeats of the same experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// There is no run.
    #[error("there is no run")]
    Empty,
    /// A run occurs twice; its folder.
    #[error("{0} is named twice")]
    Twice(String),
    /// Their experiments have different names: each with the folder of one run.
    #[error("runs of different experiments are no repeats: {}", experiments(.0))]
    Experiments(Vec<(String, String)>),
    /// Their plans differ where repeats must agree.
    #[error("{first} and {second} are no repeats of the same thing: {}", in_words(differences))]
    Plans {
        /// The differences: name, value in the first run, value in the second.
        differences: Vec<Unequal>,
        /// Folder of the first run.
        first: String,
        /// Folder of the second run.
        second: String,
    },
}

fn experiments(names: &[(String, String)]) -> String {
    names.iter().map(|(name, folder)| format!("{name} ({folder})")).collect::<Vec<_>>().join(", ")
}

fn in_words(differences: &[Unequal]) -> String {
    let one = |(name, one, other): &Unequal| {
        format!("{name} is {one} in the one and {other} in the other")
    };
    differences.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl<'a> Pool<'a> {
    /// Pools the runs of a side. Seeds, numbers of blocks and sets of configurations may differ:
    /// runs at other numbers of clients are further configurations.
    pub(crate) fn new(runs: &'a [Run]) -> Result<Self, PoolError> {
        let mut ordered: Vec<&Run> = runs.iter().collect();
        ordered.sort_by(|a, b| (&a.started_at, &a.name).cmp(&(&b.started_at, &b.name)));
        let first = *ordered.first().ok_or(PoolError::Empty)?;
        check_same_experiment(&ordered)?;
        let mut pool = Self {
            runs: Vec::new(),
            factors: &first.plan.factors,
            systems: Vec::new(),
            configurations: Vec::new(),
            found: BTreeMap::new(),
        };
        for run in ordered {
            if run.plan.factors != pool.factors {
                let text = |factors: &[String]| Value::Text(format!("[{}]", factors.join(", ")));
                let what = Differing::Name("the list of factors".to_owned());
                let difference = (what, text(pool.factors), text(&run.plan.factors));
                return Err(plans_differ(vec![difference], first, run));
            }
            pool.add(run)?;
        }
        Ok(pool)
    }

    fn add(&mut self, run: &'a Run) -> Result<(), PoolError> {
        for system in &run.plan.systems {
            match self.systems.iter().find(|known| known.name == system.name) {
                None => self.systems.push(system),
                Some(known) => {
                    let differences = system_differences(known, system);
                    if !differences.is_empty() {
                        let has = |other: &&&Run| {
                            other.plan.systems.iter().any(|it| it.name == system.name)
                        };
                        let first = self.runs.iter().find(has).copied().unwrap_or(run);
                        return Err(plans_differ(differences, first, run));
                    }
                }
            }
        }
        let mut indexes = Vec::with_capacity(run.plan.configurations.len());
        for configuration in &run.plan.configurations {
            indexes.push(self.index_of(run, configuration)?);
        }
        let restart_groups = run.plan.restart_groups();
        for trial in &run.plan.trials {
            let Some(outcome) = run.outcomes.get(&trial.id) else { continue };
            let pooled = &mut self.configurations[indexes[trial.configuration]];
            pooled.eligibility.add(run, outcome);
            if pooled.eligibility.usable.len() > pooled.origins.len() {
                let configurations = &run.plan.configurations;
                let workload = &configurations[trial.configuration].workload;
                // Each workload with its options counts as one data set, as in reports.
                let data_set = configurations.iter().position(|it| it.workload == *workload);
                let start =
                    restart_groups.iter().position(|(_, it)| it.contains(&trial.configuration));
                let (start, data_set) = (start.unwrap_or_default(), data_set.unwrap_or_default());
                pooled.origins.push(Origin {
                    run: self.runs.len(),
                    block: trial.block,
                    start,
                    data_set,
                });
            }
            if let TrialOutcome::Finished(record) = outcome {
                pooled.records.push(record);
                if let Some(schema) = &record.schema {
                    let known = *pooled.schema.get_or_insert((schema, run));
                    check_same_schema(known, (schema, run), Schema::differences)?;
                    // If dyno creates the tables, they may depend on clients and levels.
                    if uses_existing_tables(
                        &run.plan.systems[run.plan.configurations[trial.configuration].system],
                    ) {
                        let known = *self.found.entry(pooled.system).or_insert((schema, run));
                        check_same_schema(known, (schema, run), Schema::differences_in_common)?;
                    }
                }
            }
        }
        self.runs.push(run);
        Ok(())
    }

    /// Index of the pooled configuration that a run's configuration belongs to.
    fn index_of(
        &mut self,
        run: &'a Run,
        configuration: &'a Configuration,
    ) -> Result<usize, PoolError> {
        let system = run.plan.systems[configuration.system].name.as_str();
        let is_same = |known: &PooledConfiguration<'_>| {
            known.system == system
                && known.configuration.levels == configuration.levels
                && known.configuration.clients == configuration.clients
        };
        let Some(position) = self.configurations.iter().position(is_same) else {
            let (records, eligibility, origins) = (Vec::new(), Eligibility::default(), Vec::new());
            let pooled = PooledConfiguration {
                configuration,
                system,
                run,
                records,
                eligibility,
                origins,
                schema: None,
            };
            self.configurations.push(pooled);
            return Ok(self.configurations.len() - 1);
        };
        let known = &self.configurations[position];
        let mut differences = workload_differences(known.configuration, configuration);
        differences.extend(load_differences(known.configuration, configuration));
        if known.configuration.variation != configuration.variation {
            let text = |it: &Configuration| Value::Text(format!("{:?}", it.variation.settings));
            let what = Differing::Name("what the levels set".to_owned());
            differences.push((what, text(known.configuration), text(configuration)));
        }
        if differences.is_empty() {
            Ok(position)
        } else {
            Err(plans_differ(differences, known.run, run))
        }
    }
}

pub(crate) fn plans_differ(differences: Vec<Unequal>, first: &Run, second: &Run) -> PoolError {
    let folder = |run: &Run| run.folder.display().to_string();
    PoolError::Plans { differences, first: folder(first), second: folder(second) }
}

fn check_same_experiment(runs: &[&Run]) -> Result<(), PoolError> {
    let mut names: Vec<(String, String)> = Vec::new();
    for run in runs {
        if !names.iter().any(|(name, _)| *name == run.plan.name) {
            names.push((run.plan.name.clone(), run.folder.display().to_string()));
        }
    }
    if names.len() > 1 { Err(PoolError::Experiments(names)) } else { Ok(()) }
}

/// Differences between two systems of the same name: name of the part, and both values.
pub(super) fn system_differences(one: &SystemPlan, other: &SystemPlan) -> Vec<Unequal> {
    let mut differences = Vec::new();
    let mut differ = |name: &str, one: Value, other: Value| {
        if one != other {
            differences.push((Differing::Name(name.to_owned()), one, other));
        }
    };
    differ("the kind", kind(one), kind(other));
    differ("the query mode", Value::text(&one.query_mode), Value::text(&other.query_mode));
    match (&one.source, &other.source) {
        (SystemSource::Managed(one), SystemSource::Managed(other)) => {
            let names: BTreeSet<&String> =
                one.settings.keys().chain(other.settings.keys()).collect();
            for name in names {
                let value = |settings: &BTreeMap<String, String>| {
                    Value::Text(settings.get(name).cloned().unwrap_or_default())
                };
                differ(
                    &format!("the setting {name}"),
                    value(&one.settings),
                    value(&other.settings),
                );
            }
        }
        (SystemSource::Existing(one), SystemSource::Existing(other)) => {
            differ("the address", Value::text(&one.endpoint), Value::text(&other.endpoint));
            differ("the database", Value::text(&one.database), Value::text(&other.database));
            let tls = |it: &ExistingSystem| Value::Text(format!("{:?}", it.tls));
            differ("the encryption", tls(one), tls(other));
        }
        _ => {}
    }
    differences
}

/// Kind of a system, and whether dyno starts the server.
pub(super) fn kind(system: &SystemPlan) -> Value {
    match &system.source {
        SystemSource::Managed(server) => Value::StartedByDyno(server.to_string()),
        SystemSource::Existing(existing) => Value::text(&existing.engine),
        SystemSource::Imported => Value::Word(Word::Imported),
    }
}

/// Workload options that differ, the kind first; a missing option is `-`.
pub(super) fn workload_differences(one: &Configuration, other: &Configuration) -> Vec<Unequal> {
    if one.workload.kind != other.workload.kind {
        let [kind, other] = [one, other].map(|it| Value::text(&it.workload.kind));
        return vec![(Property::Workload.into(), kind, other)];
    }
    let mut differences = option_differences("", &one.workload, &other.workload);
    let [background, of_other] = [one, other].map(|it| background_line(&it.background));
    if background != of_other {
        differences.push((Property::Background.into(), background, of_other));
    }
    let same = |it: &&BackgroundPlan, known: &BackgroundPlan| {
        known.name == it.name && known.workload.kind == it.workload.kind
    };
    for it in &other.background {
        let Some(known) = one.background.iter().find(|known| same(&it, known)) else { continue };
        let prefix = format!("background.{}.", it.name);
        differences.extend(option_differences(&prefix, &known.workload, &it.workload));
    }
    differences
}

/// Options that differ between two workloads of the same kind, with a prefix of their names.
fn option_differences(prefix: &str, one: &WorkloadPlan, other: &WorkloadPlan) -> Vec<Unequal> {
    let names: BTreeSet<&String> = one.options.0.keys().chain(other.options.0.keys()).collect();
    names
        .into_iter()
        .map(|name| (name, one.options.0.get(name), other.options.0.get(name)))
        .filter(|(_, one, other)| one != other)
        .map(|(name, one, other)| {
            let text = |value: Option<&OptionValue>| {
                Value::Text(value.map(ToString::to_string).unwrap_or_default())
            };
            (Differing::Name(format!("{prefix}{name}")), text(one), text(other))
        })
        .collect()
}

/// Background workloads on one line: `report: sql, 2 clients`; empty if there are none.
fn background_line(all: &[BackgroundPlan]) -> Value {
    let one = |it: &BackgroundPlan| {
        let rate =
            it.rate.map_or_else(String::new, |rate| format!(", {}", crate::figures::rate(rate)));
        let think = it.think.map_or_else(String::new, |mean| format!(", think time {mean}"));
        let clients = if it.clients == 1 { "client" } else { "clients" };
        format!("{}: {}, {} {clients}{rate}{think}", it.name, it.workload.kind, it.clients)
    };
    Value::Text(all.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// Load and stop rules that differ.
pub(super) fn load_differences(one: &Configuration, other: &Configuration) -> Vec<Unequal> {
    fn value_or<T: ToString>(value: Option<T>, word: Word) -> Value {
        value.map_or(Value::Word(word), |it| Value::text(&it))
    }
    let values = |configuration: &Configuration| {
        let load = &configuration.load;
        let stop = match load.stop {
            StopRule::Transactions(number) => Value::AfterTransactions(number),
            StopRule::TransactionsPerClient(number) => Value::AfterTransactionsPerClient(number),
            StopRule::Rows(number) => Value::AtRows(number),
            StopRule::Duration(time) => Value::After(time.to_string()),
        };
        [
            (Property::End, stop),
            (Property::Warmup, Value::text(&load.warmup)),
            (
                Property::Databases,
                Value::Text(load.databases.names_or_number().unwrap_or("1".to_owned())),
            ),
            (Property::Rate, value_or(load.rate.map(crate::figures::rate), Word::None)),
            (Property::Arrivals, Value::text(&load.spacing)),
            (Property::ThinkTime, value_or(load.think, Word::None)),
            (Property::StatementTimeout, value_or(load.statement_timeout, Word::None)),
            (Property::Search, value_or(load.find.as_ref().map(searched), Word::None)),
            (Property::Attempts, Value::text(&load.attempts_max)),
            (Property::Retries, retries(&load.retry)),
            (Property::Workers, value_or(load.workers, Word::Automatic)),
            (Property::Grace, Value::text(&load.grace)),
            (Property::TimeLimit, Value::text(&load.time_limit)),
        ]
    };
    let pairs = values(one).into_iter().zip(values(other));
    let unequal = pairs.filter(|((_, one), (_, other))| one != other);
    let (stages, others) = (&one.load.stages, &other.load.stages);
    // Long stage lists may differ beyond the points shown.
    let staged =
        (stages != others).then(|| (Property::Stages.into(), staged(stages), staged(others)));
    unequal.map(|((name, one), (_, other))| (name.into(), one, other)).chain(staged).collect()
}

/// Maximum number of points of a load profile that are shown.
const STAGES_MAX: usize = 8;

/// The points of the stages: `3 of rate, 0 s: 100, 30 s: 100, 60 s: 500`.
fn staged(stages: &Option<Stages>) -> Value {
    let Some(stages) = stages else { return Value::Word(Word::None) };
    let mut at = 0.0;
    let mut points = Vec::new();
    for segment in stages.stages.iter().flat_map(|stage| &stage.segments) {
        points.push(format!("{at} s: {}", segment.from));
        at += segment.length.as_secs_f64();
        points.push(format!("{at} s: {}", segment.to));
    }
    points.dedup();
    let all = points.len();
    points.truncate(STAGES_MAX);
    let more = if all > STAGES_MAX { ", ..." } else { "" };
    Value::Text(format!("{} of {}, {}{more}", stages.stages.len(), stages.by, points.join(", ")))
}

/// The searched load and its limits: `rate, p99 < 20`.
fn searched(search: &Search) -> String {
    let Search { most, metric, below, transaction, .. } = search;
    let of = transaction.as_ref().map_or(String::new(), |name| format!(" of {name}"));
    format!("{most}, {metric}{of} < {below}")
}

/// The retried failures: `by kind`, `all`, or the list.
fn retries(policy: &RetryPolicy) -> Value {
    match policy {
        RetryPolicy::Kind => Value::Word(Word::ByKind),
        RetryPolicy::Listed(listed) if listed.all => Value::Word(Word::All),
        RetryPolicy::Listed(listed) => {
            let codes = listed.codes.iter().map(ToString::to_string);
            let all: Vec<String> = codes.chain(listed.sqlstates.iter().cloned()).collect();
            if all.is_empty() { Value::Word(Word::None) } else { Value::Text(all.join(" ")) }
        }
    }
}
