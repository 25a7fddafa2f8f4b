//! The spec file: parsed with all its errors reported at once, and resolved into a [`Plan`].
//!
//! # Layout (read in this order)
//! * [`keys`]: every key with its type and range; the reference in docs is generated from it;
//! * `tree`: the file as a tree whose keys and values have positions; profiles and `--set` override
//!   parts of it;
//! * `diagnostic`: errors with positions in the file; `reader`: validation of one table;
//! * `system`, `workload`, `request`, `scripts`, `option`, `properties`, `declared`, `load`,
//!   `stages`, `factors`, `levels`, `choice`, `fault`, `limit`, `background`, `databases`, `names`,
//!   `front`, `storage`, `endpoint`, `launcher`, `published`, `profile`, `quantity`, `argument`:
//!   one file per part of a spec;
//! * `paths`: resolves file names relative to the spec; `order`: randomised complete blocks;
//!   [`estimate`]: estimated duration.
//!
//! # Invariants
//! Pure functions of text: the caller reads the file. For any text, [`parse`] returns and does not
//! panic. No message and no rendered line contains a password.

mod design;
mod front;
mod loads;
mod published;
mod syntax;
mod systems;
mod workloads;

pub use design::estimate;
use design::{choice, factors, order};
use loads::{background, databases, launcher, limit, load, stages};
pub use syntax::keys;
use syntax::{argument, diagnostic, paths, profile, quantity, reader, tree};
use systems::{endpoint, fault, levels, storage, system};
use workloads::{declared, names, option, properties, request, scripts, workload};

pub use diagnostic::{Diagnostic, Diagnostics, Span};
pub use names::{NamesOf, WorkloadNames};
pub use order::in_blocks;
pub use scripts::{DeclaredOptions, ReadScript, TextKind};

use crate::catalog::{HTTP, LUA, WorkloadDescription};
use crate::client_group::BackgroundPlan;
use crate::limit::Limit;
use crate::lists;
use crate::plan::{
    Compare, ComparisonMetric, Configuration, EndpointPlan, FORMAT, FreshData, LoadPlan, Plan,
    SystemPlan, Variation, Via, WorkloadPlan,
};
use crate::target::QueryMode;
use crate::units::Nanos;
use crate::words::suggestion;
use choice::Choice;
use diagnostic::{Problems, Source, mask_passwords};
use factors::FactorTarget;
use reader::Fields;
use std::collections::BTreeMap;
use tree::{Entry, Table, Value};
use workload::KindSource;

/// The inputs of a spec.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'a> {
    /// Path of the file as the user wrote it, for messages; the plan is named after its stem.
    pub file_name: &'a str,
    /// True when there is no file: the text was generated from a command line, whose paths are
    /// relative to the working folder.
    pub is_line: bool,
    /// The file's text.
    pub text: &'a str,
    /// Arguments of `--set`, each `key=value`.
    pub overrides: &'a [String],
    /// Argument of `--profile`.
    pub profile: Option<&'a str>,
    /// Returns the value of an environment variable; without it, no variable is set.
    pub variable: Option<fn(&str) -> Option<String>>,
    /// Reads scripts; without it, none can be read.
    pub script: Option<ReadScript>,
    /// Names of transactions and statements; without it, any name is accepted.
    pub names: Option<NamesOf>,
    /// Options that scripts declare; without it, scripts declare none and accept any option.
    pub declared: Option<DeclaredOptions>,
}

/// One combination of the factors' levels, and its effects.
struct Combination {
    /// Levels as text, in the order of the factors.
    levels: Vec<String>,
    workload: WorkloadPlan,
    load: LoadPlan,
    /// Changes to every system, except `settings`.
    variation: Variation,
    settings: Vec<SettingLevel>,
    /// Numbers of clients of background workloads, by name.
    background: BTreeMap<String, u32>,
}

/// A server setting defined by a level.
struct SettingLevel {
    /// The system of the server; `None`: all systems.
    system: Option<String>,
    name: String,
    value: String,
}

impl Combination {
    /// The changes of the combination to a system.
    fn variation(&self, system: &SystemPlan) -> Variation {
        let is_meant =
            |level: &&SettingLevel| level.system.as_ref().is_none_or(|name| *name == system.name);
        let settings = self.settings.iter().filter(is_meant);
        let settings = settings.map(|level| (level.name.clone(), level.value.clone())).collect();
        Variation { settings, ..self.variation.clone() }
    }
}

/// Maximum number of trials of an experiment; at a second each they take over a day.
const TRIALS_MAX: usize = 100_000;

/// Parses a spec and resolves it. The returned text is that of the file as stored with the results:
/// without its passwords.
///
/// # Errors
/// All errors, each with its position in the file or argument.
pub fn parse(
    input: Input<'_>,
    catalog: &[WorkloadDescription],
) -> Result<(String, Plan), Diagnostics> {
    let mut sources =
        vec![Source { name: input.file_name.to_owned(), text: input.text.to_owned() }];
    sources.extend(
        input.overrides.iter().map(|text| Source { name: "--set".to_owned(), text: text.clone() }),
    );
    let problems = Problems::default();
    let file = tree::from_toml(input.text, 0, &problems);
    if !problems.is_empty() {
        return Err(Diagnostics::new(sources, problems)); // errors of a partial file would mislead
    }
    let profiles = profile::all(&file, &problems);
    let mut document = file.clone();
    if let Some(name) = input.profile {
        profile::override_with(&mut document, name, &profiles, &mut sources, &problems);
    }
    for i in 0..input.overrides.len() {
        argument::apply(&mut document, i + 1, &sources, &problems);
    }
    let Input { file_name: spec, is_line, declared, .. } = input;
    let scripts = scripts::ScriptFiles {
        spec,
        is_line,
        read: input.script,
        declared,
        kind: TextKind::Script,
    };
    let known = option::Known { catalog, scripts, names: input.names.unwrap_or(names::unknown) };
    let plan = read(&document, &sources, input.variable, known, &problems);
    for profile in profiles.iter().filter(|profile| Some(profile.key.as_str()) != input.profile) {
        check_profile(&file, profile, &sources, known, &problems);
    }
    match plan {
        Some(mut plan) if problems.is_empty() => {
            plan.name = plan_name(input.file_name);
            paths::resolve(&mut plan, input.file_name);
            plan.profile = input.profile.map(str::to_owned);
            plan.fit_to_budget();
            plan.draw_run_order(|_, _| None);
            mask_passwords(&mut sources, &problems.into_parts().1);
            Ok((sources.swap_remove(0).text, plan))
        }
        _ => Err(Diagnostics::new(sources, problems)),
    }
}

/// All configurations in the order system, combination, clients, except those that are excluded.
fn configurations(
    systems: &[SystemPlan],
    combinations: &[Combination],
    clients: &[u32],
    exclusions: &[Choice],
    background: &[BackgroundPlan],
) -> Vec<Configuration> {
    let mut configurations = Vec::new();
    for (system, plan) in systems.iter().enumerate() {
        for combination in combinations {
            for clients in clients {
                let configuration = Configuration {
                    system,
                    clients: *clients,
                    workload: combination.workload.clone(),
                    load: combination.load.clone(),
                    levels: combination.levels.clone(),
                    variation: combination.variation(plan),
                    background: background::with_clients(background, &combination.background),
                };
                if !exclusions.iter().any(|exclusion| exclusion.holds(&configuration)) {
                    configurations.push(configuration);
                }
            }
        }
    }
    configurations
}

/// The file's stem as a folder name: letters, digits, dots, underscores and hyphens.
fn plan_name(file_name: &str) -> String {
    let base = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let stem = base.strip_suffix(".toml").unwrap_or(base);
    let name: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "experiment".to_owned() } else { name.to_owned() }
}

/// Parses a whole document; `None` or errors when it is not a valid spec. The plan does not yet
/// have a name, profile or run order.
fn read(
    document: &Table,
    sources: &[Source],
    variable: system::Variable,
    known: option::Known<'_>,
    problems: &Problems,
) -> Option<Plan> {
    let top = Fields::new(&keys::TOP, document, Span::default(), problems);
    let title = top.required_text(
        "title",
        "add a first line such as `title = \"What this experiment shows\"`",
    );
    let description = top.text("description").unwrap_or_default().trim().to_owned();
    let systems = system::read(&top, sources, variable);
    let factors = factors::read(document, problems);
    let (clients, combinations) = clients_and_combinations(&top, &factors, known);
    levels::check_query_modes(&factors, &systems, problems);
    levels::check_settings(&factors, &systems, problems);
    let storages = storage::read(&top);
    storage::check(&factors, &storages, &systems, problems);
    let endpoint_uses =
        combinations.iter().map(|it| (it.variation.endpoint.as_deref(), it.workload.kind.as_str()));
    let endpoints =
        endpoint::used(&factors, &endpoint::read(&top), &systems, endpoint_uses, problems);
    let faults = fault::read(&top, &fault_setting(&systems, &combinations, &endpoints));
    fault::check_search(&top, combinations.iter().any(|it| it.load.find.is_some()));
    let measured_loads: Vec<_> =
        combinations.iter().map(|it| (it.load.stop, it.workload.kind.as_str())).collect();
    let background = background::read(&top, &factors, &measured_loads, &endpoints, known);
    load::check_timeout(&top, &systems, &factors, kinds_with_timeout(&combinations, &background));
    let names_of = known.names;
    let choices = choice::Known { systems: &systems, factors: &factors };
    let are_searched =
        !combinations.is_empty() && combinations.iter().all(|it| it.load.find.is_some());
    let Design { blocks, budget, seed, data, compare, primary, exclusions } =
        design(&top, &choices, are_searched);
    let limits = limit::read(&top, &choices);
    let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
    let published = published::read(&top, &names);
    let configuration_count = systems.len() * combinations.len() * clients.len();
    if configuration_count.saturating_mul(blocks as usize) > TRIALS_MAX {
        let message = format!(
            "{configuration_count} configurations in {blocks} blocks are more than {TRIALS_MAX} trials"
        );
        top.refuse("design", message, "use fewer levels, or fewer blocks");
        return None;
    }
    let factors = factors.into_iter().map(|factor| factor.name).collect();
    let title = title?.trim().to_owned();
    let planned = problems
        .is_empty()
        .then(|| configurations(&systems, &combinations, &clients, &exclusions, &background));
    databases::check(&top, planned.as_deref().unwrap_or_default(), &systems, &endpoints);
    let launcher = launcher::read(&top);
    launcher::check(&top, &launcher, planned.as_deref().unwrap_or_default(), &systems);
    let part_names = limit::PartNames { systems: &systems, names: names_of };
    let limits = resolved_limits(limits, planned.as_deref(), &part_names, &top);
    limit::check_searches(planned.as_deref().unwrap_or_default(), &part_names, &top);
    Some(Plan {
        format: FORMAT,
        title,
        description,
        seed,
        blocks,
        budget,
        systems,
        factors,
        configurations: planned.unwrap_or_default(),
        published,
        compare,
        primary,
        limits,
        faults,
        front: front::read(&top),
        data,
        storages,
        endpoints,
        launcher,
        ..Plan::default()
    })
}

/// The kinds of workloads, including background workloads, whose clients have a timeout for
/// answers.
fn kinds_with_timeout<'a>(
    combinations: &'a [Combination],
    background: &'a [BackgroundPlan],
) -> impl Iterator<Item = &'a str> {
    let limited = combinations.iter().filter(|it| it.load.statement_timeout.is_some());
    let kinds = |it: &'a Combination| {
        std::iter::once(&it.workload)
            .chain(background.iter().map(|background| &background.workload))
    };
    limited.flat_map(kinds).map(|workload| workload.kind.as_str())
}

/// The parts of the spec that faults depend on.
fn fault_setting<'a>(
    systems: &'a [SystemPlan],
    combinations: &[Combination],
    endpoints: &[EndpointPlan],
) -> fault::Setting<'a> {
    // HTTP requests have a separate timeout.
    let is_limited =
        |it: &Combination| it.load.statement_timeout.is_some() || it.workload.kind == HTTP;
    fault::Setting {
        systems,
        stops: combinations.iter().map(|it| it.load.stop).collect(),
        has_timeout: combinations.iter().all(is_limited),
        has_lua: combinations.iter().any(|it| it.workload.kind == LUA),
        has_storage: combinations.iter().all(|it| it.variation.storage.is_some()),
        has_socket: endpoints.iter().any(|endpoint| {
            matches!(endpoint.via, Via::Socket | Via::Address(crate::target::Endpoint::Unix(_)))
        }),
    }
}

/// The numbers of clients, and the workloads measured with each of them: the combinations of the
/// factors' levels.
fn clients_and_combinations(
    top: &Fields<'_>,
    factors: &[factors::Factor],
    known: option::Known<'_>,
) -> (Vec<u32>, Vec<Combination>) {
    let problems = top.problems;
    let none = Table::default();
    let workload = match factors::vary_kind(factors) && top.node("workload").is_none() {
        true => Some((&none, top.span_of("factors"))),
        false => section(top, "workload", "add for example:\n[workload]\nkind = \"rush\""),
    };
    let load =
        section(top, "load", "add for example:\n[load]\nclients = [1, 8, 64]\nduration = \"30s\"");
    let fields = load.map(|(table, span)| Fields::new(&keys::LOAD, table, span, problems));
    let clients = fields.as_ref().map_or_else(Vec::new, load::clients);
    let combinations = match (workload, load) {
        (Some(workload), Some(load)) => VariedTables { workload, load, clients: &clients, factors }
            .combinations(known, problems),
        (Some((table, span)), None) if !factors::vary_kind(factors) => {
            workload::read(table, span, KindSource::Table, known, problems);
            Vec::new()
        }
        _ => Vec::new(),
    };
    (clients, combinations)
}

/// The limits, which must apply to parts that exist.
fn resolved_limits(
    limits: Vec<limit::Wanted>,
    configurations: Option<&[Configuration]>,
    parts: &limit::PartNames<'_>,
    top: &Fields<'_>,
) -> Vec<Limit> {
    match configurations {
        None => Vec::new(),
        Some([]) => {
            top.refuse("design", "`design.exclude` excludes every configuration", "exclude less");
            Vec::new()
        }
        Some(configurations) => limit::resolved(limits, configurations, parts, top),
    }
}

/// Minimum and maximum number of blocks of a run whose number of blocks depends on its data.
const BLOCKS_AUTO: (u32, u32) = (3, 50);

fn section<'a>(top: &Fields<'a>, key: &str, help: &str) -> Option<(&'a Table, Span)> {
    if top.node(key).is_none() && !top.is_mistyped(key) {
        top.refuse_table(format!("missing table [{key}]"), help);
    }
    top.table(key)
}

struct Design {
    blocks: u32,
    budget: Option<Nanos>,
    seed: u64,
    data: FreshData,
    compare: Option<Compare>,
    primary: Option<ComparisonMetric>,
    exclusions: Vec<Choice>,
}

/// Values of `design.data`.
const FRESH_DATA: [(&str, FreshData); 3] =
    [("auto", FreshData::Auto), ("load", FreshData::Load), ("restore", FreshData::Restore)];

fn design(top: &Fields<'_>, known: &choice::Known<'_>, are_searched: bool) -> Design {
    let Some(fields) = top.inner("design", &keys::DESIGN) else {
        let (data, exclusions) = (FreshData::Auto, Vec::new());
        return Design {
            blocks: 5,
            budget: None,
            seed: 1,
            data,
            compare: None,
            primary: None,
            exclusions,
        };
    };
    let is_auto = fields
        .node("blocks")
        .filter(|node| matches!(&node.value, Value::Text(text) if text == "auto"));
    let blocks =
        if is_auto.is_some() { BLOCKS_AUTO.0 } else { fields.integer("blocks").unwrap_or(5) };
    // A budget overrides a number of blocks, which a profile or an option may have added.
    let budget = fields.duration("budget").filter(|_| is_auto.is_some());
    if let Some(node) = is_auto.filter(|_| fields.node("budget").is_none()) {
        let message = "`design.blocks` is \"auto\" without a budget";
        top.problems.refuse(
            node.span,
            message,
            "add the maximum time of the run: `budget = \"2h\"`",
        );
    }
    let seed = fields.integer("seed").unwrap_or(1);
    let data = fields.choice("data", &FRESH_DATA).unwrap_or(FreshData::Auto);
    let cluster = known.systems.iter().find(|system| system.is_cluster());
    if let (Some(cluster), FreshData::Restore) = (cluster, data) {
        let message =
            format!("the data of the cluster `{}` cannot be restored by copy", cluster.name);
        fields.refuse("data", message, "write \"load\", or \"auto\", which copies where possible");
    }
    let compare = compare(&fields, known.factors);
    let primary = fields.choice("primary", &published::METRICS);
    if primary.is_some() && are_searched {
        let message = "`design.primary` cannot be combined with `load.find`";
        fields.refuse("primary", message, "remove it: searches are compared by the load found");
    }
    let exclusions = choice::read(&fields, "exclude", known);
    Design { blocks, budget, seed, data, compare, primary, exclusions }
}

/// The factors that `design.compare` names.
fn compare(design: &Fields<'_>, factors: &[factors::Factor]) -> Option<Compare> {
    let name = design.text("compare")?;
    if name == "system" {
        return Some(Compare::System);
    }
    let factor_index = factors.iter().position(|factor| factor.name == name);
    if factor_index.is_none() {
        let known: Vec<&str> = std::iter::once("system")
            .chain(factors.iter().map(|factor| factor.name.as_str()))
            .collect();
        let message = format!("`{name}` is not a factor of this experiment");
        design.refuse("compare", message, suggestion(name, &known, "varied"));
    }
    factor_index.map(Compare::Factor)
}

/// The tables of the spec into which a combination of levels is written.
struct VariedTables<'a> {
    workload: (&'a Table, Span),
    load: (&'a Table, Span),
    clients: &'a [u32],
    factors: &'a [factors::Factor],
}

impl VariedTables<'_> {
    fn combinations(&self, known: option::Known<'_>, problems: &Problems) -> Vec<Combination> {
        let mut combinations = Vec::new();
        let source = match factors::vary_kind(self.factors) {
            true => KindSource::Factor,
            false => KindSource::Table,
        };
        for combination in factors::combinations(self.factors, problems) {
            let workload_table =
                factors::with_levels(self.workload.0, self.factors, &combination, |target| {
                    match target {
                        FactorTarget::Workload(option) => Some(option),
                        _ => None,
                    }
                });
            let load =
                factors::with_levels(
                    self.load.0,
                    self.factors,
                    &combination,
                    |target| match target {
                        FactorTarget::Load(key) => Some(key),
                        _ => None,
                    },
                );
            let workload =
                workload::read(&workload_table, self.workload.1, source, known, problems);
            let load_fields = Fields::new(&keys::LOAD, &load, self.load.1, problems);
            let load = load::rules(&load_fields, known.scripts, self.clients);
            if let (Some(workload), Some(load)) = (&workload, &load) {
                load::check_growth(&self.load, workload, load.stop, problems);
                load::check_thinking(&load_fields, workload, load);
            }
            let levels = self.factors.iter().zip(&combination);
            let levels = levels.map(|(factor, &level)| factor.levels[level].name.clone()).collect();
            let (mut variation, mut settings) = (Variation::default(), Vec::new());
            let mut background = BTreeMap::new();
            for change in factors::changes(self.factors, &combination) {
                let value = change.node.value.scalar_text().unwrap_or_default();
                match &change.target {
                    FactorTarget::QueryMode => variation.query_mode = QueryMode::named(&value),
                    FactorTarget::Setting { system, name } => {
                        settings.push(SettingLevel {
                            system: system.clone(),
                            name: name.clone(),
                            value,
                        });
                    }
                    FactorTarget::Storage => variation.storage = Some(value),
                    FactorTarget::Endpoint => variation.endpoint = Some(value),
                    FactorTarget::Background(name) => {
                        background
                            .extend(value.parse().ok().map(|clients| (name.clone(), clients)));
                    }
                    FactorTarget::Workload(_) | FactorTarget::Load(_) => {}
                }
            }
            if let (Some(workload), Some(load)) = (workload, load) {
                combinations.push(Combination {
                    levels,
                    workload,
                    load,
                    variation,
                    settings,
                    background,
                });
            }
        }
        combinations
    }
}

impl Plan {
    /// Draws the run order such that configurations that can share the same data set follow one
    /// another within their restart group. `data_set` returns the data set of a configuration that
    /// leaves it unchanged; other configurations get separate data anyway and form a group
    /// together. The data sets of workloads are not known here, so [`parse`] does not take them
    /// into account.
    pub fn draw_run_order(&mut self, data_set: impl Fn(&Self, &Configuration) -> Option<String>) {
        let restart_groups = if self.is_split() {
            self.restart_groups().into_iter().map(|(_, configurations)| configurations).collect()
        } else {
            vec![(0..self.configurations.len()).collect::<Vec<_>>()]
        };
        let grouped = |configurations: Vec<usize>| {
            let with_data_set =
                configurations.into_iter().map(|at| (data_set(self, &self.configurations[at]), at));
            lists::grouped(with_data_set).into_iter().map(|(_, group)| group).collect()
        };
        let restart_groups: Vec<order::GroupOrder> =
            restart_groups.into_iter().map(grouped).collect();
        self.trials = order::trials(&restart_groups, self.blocks, self.seed);
    }

    /// Estimated number of blocks that fit into the budget, if there is one.
    fn fit_to_budget(&mut self) {
        let Some(budget) = self.budget else { return };
        let block_nanos = estimate::block(self).likely.0.max(1);
        let trials = self.configurations.len().max(1);
        let blocks_max =
            (TRIALS_MAX / trials).clamp(BLOCKS_AUTO.0 as usize, BLOCKS_AUTO.1 as usize);
        self.blocks =
            (budget.0 / block_nanos).clamp(u64::from(BLOCKS_AUTO.0), blocks_max as u64) as u32;
    }

    /// The query mode of a configuration: that of its levels, else that of its system.
    #[must_use]
    pub fn query_mode(&self, configuration: &Configuration) -> QueryMode {
        // Plans of format 1 before 2026-11 contain only the level.
        let level = || {
            let levels = self.factors.iter().zip(&configuration.levels);
            levels.into_iter().find(|(name, _)| *name == "system.query_mode")
        };
        let chosen = configuration.variation.query_mode.or_else(|| QueryMode::named(level()?.1));
        chosen.unwrap_or(self.systems[configuration.system].query_mode)
    }
}

/// Validates the file with each profile that was not chosen, and reports errors within that
/// profile.
fn check_profile(
    file: &Table,
    profile: &Entry,
    sources: &[Source],
    known: option::Known<'_>,
    problems: &Problems,
) {
    let Value::Table(overlay) = &profile.node.value else { return };
    let mut document = file.clone();
    let profile_problems = Problems::default();
    argument::apply_profile(&mut document, overlay, &profile_problems);
    // A profile that is not selected needs no variables.
    read(&document, sources, Some(|_| Some("mysql://-@-/-".to_owned())), known, &profile_problems);
    let (diagnostics, secrets) = profile_problems.into_parts();
    for span in secrets {
        problems.hide(span);
    }
    for diagnostic in diagnostics {
        if tree::covers(overlay, diagnostic.span) {
            problems.report(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests;
