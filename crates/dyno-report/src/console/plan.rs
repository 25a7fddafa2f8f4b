//! The plan as text: the output of `dyno plan`.

use crate::checkup::filled as padded;
use crate::figures;
use crate::messages::{Lang, Message, compare, fill, headings, names, plan as words};
use crate::progress::{configuration as configuration_line, duration, exact};
use dyno_analysis::pilot::{BLOCKS_MAX, DIFFERENCES, Pilot};
use dyno_model::catalog::{OptionValue, WorkloadDescription};
use dyno_model::client_group::BackgroundPlan;
use dyno_model::engine::Clustering;
use dyno_model::fault::FaultPlan;
use dyno_model::lists::distinct;
use dyno_model::plan::{
    Configuration, DataPolicy, ExistingSystem, LoadBy, LoadPlan, ManagedServer, Plan, Spacing,
    Stages, StopRule, Storage, SystemSource, Trial, Via, WorkloadPlan,
};
use dyno_model::search::{Lengths, Search};
use dyno_model::spec::estimate::{self, RATE_ASSUMED};
use dyno_model::units::Nanos;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Systems, load, factors, design, the trials of one block in run order, the number of the other
/// trials, and the duration.
#[must_use]
pub fn plan(plan: &Plan, catalog: &[WorkloadDescription], lang: Lang) -> String {
    let mut text = format!("{}\n\n", plan.title);
    let rows = facts(plan, catalog, lang);
    let width = rows.iter().map(|(head, _)| head.text(lang).width()).max().unwrap_or(0);
    for (head, fact) in rows {
        let _ = writeln!(text, "  {}  {fact}", padded(head.text(lang), width));
    }
    text.push('\n');
    let head = headings::TRIAL.text(lang);
    let width = plan.trials.first().map_or(0, |trial| trial.id.len()).max(head.width());
    let _ = writeln!(text, "  {}  {}", padded(head, width), compare::CONFIGURATION.text(lang));
    let mut started = None;
    let block = plan.trials.first().map(|trial| trial.block);
    let (shown, others): (Vec<&Trial>, Vec<&Trial>) =
        plan.trials.iter().partition(|trial| Some(trial.block) == block);
    for trial in shown {
        let configuration = plan.configuration(trial);
        let of_trial = (trial.block, plan.restart_group(configuration));
        if plan.is_split() && started.replace(of_trial) != Some(of_trial) {
            let _ = writeln!(text, "  {:width$}  ({})", "", start(plan, configuration, lang));
        }
        let _ = writeln!(
            text,
            "  {:width$}  {}",
            trial.id,
            configuration_line(plan, configuration, lang)
        );
    }
    if !others.is_empty() {
        let blocks = plan.blocks.saturating_sub(1);
        let more = fill!(words::MORE_TRIALS, lang, trials = others.len(), blocks);
        let _ = writeln!(text, "  {more}");
    }
    let _ = write!(text, "\n{}", time(plan, lang));
    text
}

/// The facts before the list of trials: labels and values.
fn facts(plan: &Plan, catalog: &[WorkloadDescription], lang: Lang) -> Vec<(Message, String)> {
    let labelled = |name: &str, text: String| names::labelled(name, &text, lang);
    let mut rows: Vec<(Message, String)> = Vec::new();
    for system in &plan.systems {
        rows.push((headings::SYSTEM, labelled(&system.name, source(&system.source, lang))));
    }
    if let Some(first) = plan.configurations.first() {
        rows.push((words::WORKLOAD, workload(plan, first, catalog, lang)));
    }
    let rules =
        distinct(plan.configurations.iter().map(|configuration| rule(&configuration.load, lang)));
    for background in plan.background() {
        rows.push((
            headings::BACKGROUND_NAME,
            labelled(&background.name, self::background(plan, background, catalog, lang)),
        ));
    }
    rows.push((words::MEASURE, rules.join(lang.semicolon)));
    for (i, factor) in plan.factors.iter().enumerate() {
        rows.push((words::FACTOR, labelled(factor, levels(plan, i).join(lang.comma))));
    }
    for storage in &plan.storages {
        rows.push((words::STORAGE, labelled(&storage.name, storage_text(storage, lang))));
    }
    for endpoint in &plan.endpoints {
        rows.push((words::ENDPOINT, labelled(&endpoint.name, network_path(&endpoint.via, lang))));
    }
    for fault in &plan.faults {
        rows.push((headings::FAULT, labelled(&plan.systems[fault.system].name, harm(fault, lang))));
    }
    rows.push((words::DESIGN, design(plan, lang)));
    rows
}

/// Directories and commands of a storage.
fn storage_text(storage: &Storage, lang: Lang) -> String {
    let mut parts = vec![storage.data.display().to_string()];
    if let Some(log) = &storage.log {
        parts.push(fill!(words::LOG_IN, lang, folder = log.display()));
    }
    for (message, command) in [(words::BEFORE, &storage.before), (words::AFTER, &storage.after)] {
        if let Some(line) = command.as_ref().and_then(|command| command.trim().lines().next()) {
            parts.push(fill!(message, lang, command = line));
        }
    }
    parts.join(lang.comma)
}

/// The fault that is injected, and when.
fn harm(fault: &FaultPlan, lang: Lang) -> String {
    let message = if fault.within.0 == 0 { words::HARM } else { words::HARM_WITHIN };
    let (from, to) =
        (exact(fault.at.into(), lang), exact(Nanos(fault.at.0 + fault.within.0).into(), lang));
    let fault = names::fault(fault.action, fault.object(), lang);
    fill!(message, lang, fault, from, to)
}

/// The components on a network path to a server.
fn network_path(via: &Via, lang: Lang) -> String {
    match via {
        Via::Tcp => words::WAY_TCP.text(lang).to_owned(),
        Via::Socket => words::WAY_SOCKET.text(lang).to_owned(),
        Via::Address(address) => address.to_string(),
        Via::Proxy(proxy) => fill!(words::STARTED, lang, program = proxy.kind.name()),
        Via::Application(it) => {
            fill!(words::WAY_APPLICATION, lang, war = it.war.display(), program = it.kind.name())
        }
    }
}

/// Configurations, blocks, order and restarts in a sentence.
fn design(plan: &Plan, lang: Lang) -> String {
    let message = match (plan.is_split(), plan.budget.is_some()) {
        (false, false) => words::IN_BLOCKS,
        (false, true) => words::IN_BUDGET,
        (true, false) => words::SPLIT_IN_BLOCKS,
        (true, true) => words::SPLIT_IN_BUDGET,
    };
    let (plots, starts) =
        if plan.is_split() { (plan.restart_groups().len(), plan.starts()) } else { (0, 0) };
    fill!(
        message,
        lang,
        configurations = plan.configurations.len(),
        blocks = plan.blocks,
        seed = plan.seed,
        trials = plan.trials.len(),
        plots,
        starts
    )
}

/// The workloads with all options that differ from their defaults. Factors are listed separately,
/// except for the kinds.
fn workload(
    experiment: &Plan,
    configuration: &Configuration,
    catalog: &[WorkloadDescription],
    lang: Lang,
) -> String {
    let plan = &configuration.workload;
    let kinds =
        experiment.configurations.iter().map(|configuration| configuration.workload.kind.as_str());
    let kinds = distinct(kinds).join(lang.comma);
    let is_varied = |name: &str, value: &OptionValue| {
        let others =
            experiment.configurations.iter().map(|other| other.workload.options.0.get(name));
        others.flatten().any(|other| other != value)
    };
    with_options(kinds, plan, &|name, value| !is_varied(name, value), catalog, lang)
}

/// Kinds of workloads with all options that differ from their defaults.
fn with_options(
    kinds: String,
    plan: &WorkloadPlan,
    is_reported: &dyn Fn(&str, &OptionValue) -> bool,
    catalog: &[WorkloadDescription],
    lang: Lang,
) -> String {
    let defaults = catalog
        .iter()
        .find(|workload| workload.name == plan.kind)
        .map(WorkloadDescription::defaults);
    let is_default = |name: &str, value| {
        defaults.as_ref().is_some_and(|defaults| defaults.0.get(name) == Some(value))
    };
    let chosen: Vec<String> = plan
        .options
        .0
        .iter()
        .filter(|(name, value)| !is_default(name, value) && is_reported(name, value))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if chosen.is_empty() {
        return kinds;
    }
    fill!(words::WORKLOAD_WITH, lang, kinds, options = chosen.join(lang.comma))
}

/// A background workload, with its clients and arrival rate; if the number of clients is a factor,
/// it is listed there.
fn background(
    plan: &Plan,
    background: &BackgroundPlan,
    catalog: &[WorkloadDescription],
    lang: Lang,
) -> String {
    let workload = with_options(
        background.workload.kind.clone(),
        &background.workload,
        &|_, _| true,
        catalog,
        lang,
    );
    let is_varied = plan.configurations.iter().any(|it| !it.background.contains(background));
    let mut parts = vec![match is_varied {
        true => workload,
        false => fill!(words::BACKGROUND_WITH, lang, workload, clients = background.clients),
    }];
    let arriving = |rate| fill!(words::ARRIVING, lang, rate = figures::rate(rate));
    parts.extend(background.rate.map(arriving));
    let thinking = |think: Nanos| fill!(words::THINK, lang, duration = exact(think.into(), lang));
    parts.extend(background.think.map(thinking));
    parts.join(lang.comma)
}

/// Levels of a factor in the order of the configurations.
fn levels(plan: &Plan, factor: usize) -> Vec<&str> {
    distinct(plan.configurations.iter().map(|configuration| configuration.levels[factor].as_str()))
}

/// Source of a system, in one line.
fn source(source: &SystemSource, lang: Lang) -> String {
    match source {
        SystemSource::Managed(server) if server.settings.is_empty() => {
            fill!(words::STARTED, lang, program = program(server, lang))
        }
        SystemSource::Managed(server) => {
            let settings: Vec<String> =
                server.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let settings = settings.join(lang.comma);
            fill!(words::STARTED_WITH, lang, program = program(server, lang), settings)
        }
        SystemSource::Existing(ExistingSystem { engine, endpoint, database, data, .. }) => {
            let message = if database.is_empty() { words::AT } else { words::AT_DATABASE };
            let place = fill!(message, lang, engine, endpoint, database);
            let has_tables = engine.has_sql() && engine.keeps_data();
            let tables = has_tables.then(|| self::data(*data).text(lang).to_owned());
            [place].into_iter().chain(tables).collect::<Vec<_>>().join(lang.comma)
        }
        SystemSource::Imported => words::IMPORTED.text(lang).to_owned(),
    }
}

/// The tables that clients work on.
fn data(policy: DataPolicy) -> Message {
    match policy {
        DataPolicy::Own => words::DATA_OWN,
        DataPolicy::Existing => words::DATA_EXISTING,
        DataPolicy::Copy => words::DATA_COPY,
    }
}

/// The server that dyno starts: `galera with 3 nodes`.
fn program(server: &ManagedServer, lang: Lang) -> String {
    let message = match server.kind.clustering() {
        Clustering::Single => return server.kind.to_string(),
        Clustering::DataNodes => words::SQL_NODES,
        Clustering::Peers | Clustering::Replicas => words::NODES,
    };
    fill!(message, lang, kind = server.kind, nodes = server.nodes, data = server.data_nodes)
}

/// The load of a trial as a list: duration, arrivals, warm-up.
fn rule(load: &LoadPlan, lang: Lang) -> String {
    let mut parts = vec![stop(load, lang)];
    if !load.databases.is_one() {
        parts.push(fill!(words::OVER_DATABASES, lang, number = load.databases.count()));
    }
    if let Some(rate) = load.rate {
        let message = match load.spacing {
            Spacing::Poisson => words::ARRIVING,
            Spacing::Even => words::ARRIVING_EVENLY,
        };
        parts.push(fill!(message, lang, rate = figures::rate(rate)));
    }
    let spans = [
        (words::AFTER_WARM_UP, Some(load.warmup).filter(|warmup| warmup.0 > 0)),
        (words::THINK, load.think),
        (words::STATEMENT_TIMEOUT, load.statement_timeout),
    ];
    for (message, span) in spans {
        if let Some(span) = span {
            parts.push(fill!(message, lang, duration = exact(span.into(), lang)));
        }
    }
    let parts = parts.join(lang.comma);
    load.find.as_ref().map_or(parts.clone(), |search| find(search, load, &parts, lang))
}

fn stop(load: &LoadPlan, lang: Lang) -> String {
    match load.stop {
        StopRule::Transactions(total) => fill!(words::STOP_TRANSACTIONS, lang, number = total),
        StopRule::TransactionsPerClient(each) => fill!(words::STOP_PER_CLIENT, lang, number = each),
        StopRule::Rows(target) => fill!(words::STOP_ROWS, lang, number = target),
        StopRule::Duration(window) => {
            let length = exact(window.into(), lang);
            load.stages.as_ref().map_or(length.clone(), |stages| staged(&length, stages, lang))
        }
    }
}

/// `30 s in 3 stages, at most 500/s`.
fn staged(length: &str, stages: &Stages, lang: Lang) -> String {
    let (message, highest) = match stages.by {
        LoadBy::Rate => (words::STAGES_RATE, figures::rate(stages.highest())),
        LoadBy::Clients => (words::STAGES_CLIENTS, (stages.highest() as usize).to_string()),
    };
    fill!(message, lang, length, stages = stages.stages.len(), highest)
}

/// The goal of a saturation search, and how each load is tested.
fn find(search: &Search, load: &LoadPlan, rule: &str, lang: Lang) -> String {
    let message = match search.most {
        LoadBy::Rate => words::FIND_RATE,
        LoadBy::Clients => words::FIND_CLIENTS,
    };
    let duration = if let StopRule::Duration(duration) = load.stop { duration } else { Nanos(0) };
    let (steps, _) = Lengths::new(load.warmup, duration).usual();
    fill!(message, lang, limit = figures::limit_of(search), steps, rule)
}

/// The start of a restart group, in one line: `MariaDB on raid1: starts with thread_handling =
/// pool-of-threads`.
fn start(plan: &Plan, configuration: &Configuration, lang: Lang) -> String {
    let storage = configuration.variation.storage.as_deref();
    let settings: Vec<String> = configuration
        .variation
        .settings
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let message = match (storage, settings.is_empty()) {
        (None, true) => words::START,
        (Some(_), true) => words::START_ON,
        (None, false) => words::START_WITH,
        (Some(_), false) => words::START_ON_WITH,
    };
    let system = &plan.systems[configuration.system].name;
    fill!(
        message,
        lang,
        system,
        storage = storage.unwrap_or_default(),
        settings = settings.join(lang.comma)
    )
}

/// Expected duration, in a sentence.
fn time(plan: &Plan, lang: Lang) -> String {
    let estimate = estimate::plan(plan);
    let message = match (plan.budget.is_some(), estimate.is_rate_assumed) {
        (false, false) => words::TIME,
        (false, true) => words::TIME_ASSUMED,
        (true, false) => words::TIME_BUDGET,
        (true, true) => words::TIME_BUDGET_ASSUMED,
    };
    let [likely, at_most] =
        [estimate.likely, estimate.at_most].map(|time| duration(time.into(), lang));
    let budget = plan.budget.map_or_else(String::new, |budget| exact(budget.into(), lang));
    fill!(message, lang, likely, at_most, rate = RATE_ASSUMED, budget)
}

/// Recommendation of a pilot about the number of blocks.
#[must_use]
pub fn pilot(plan: &Plan, pilot: Pilot, lang: Lang) -> String {
    let percent = |share: f64| format!("{:.*} %", usize::from(share < 0.1), share * 100.0);
    let trials: Vec<Trial> = plan.trials.iter().filter(|trial| trial.block == 1).cloned().collect();
    let one = estimate::plan(&Plan { blocks: 1, trials, ..plan.clone() });
    let metric = names::metric(pilot.metric, lang);
    let scatter = percent(pilot.scatter());
    let pilot_scatter =
        fill!(words::PILOT, lang, metric, percent = scatter, degrees = pilot.degrees);
    let mut text = format!("{pilot_scatter}\n");
    let [difference, blocks, time] =
        [words::PILOT_DIFFERENCE, words::PILOT_BLOCKS, words::PILOT_TIME];
    let rows = DIFFERENCES.map(|difference| {
        let blocks = pilot.blocks_for(difference);
        let time = blocks.map_or_else(String::new, |blocks| {
            duration(Nanos(one.likely.0.saturating_mul(u64::from(blocks))).into(), lang)
        });
        let too_many = || fill!(words::PILOT_TOO_MANY, lang, number = BLOCKS_MAX);
        [percent(difference), blocks.map_or_else(too_many, |blocks| blocks.to_string()), time]
    });
    let heads = [difference, blocks, time].map(|head| head.text(lang).to_owned());
    let widths = [0, 1].map(|column| {
        let all = rows.iter().chain([&heads]).map(|row| row[column].width());
        all.max().unwrap_or(0)
    });
    for [difference, blocks, time] in [heads].into_iter().chain(rows) {
        let cell = |text: &str, width: usize| format!("{}{text}", " ".repeat(width - text.width()));
        let line =
            format!("  {}  {}  {time}", cell(&difference, widths[0]), cell(&blocks, widths[1]));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str(&match pilot.detectable(plan.blocks) {
        Some(from) => fill!(words::PILOT_SEES, lang, blocks = plan.blocks, from = percent(from)),
        None => words::PILOT_SEES_NOTHING.text(lang).to_owned(),
    });
    text
}
