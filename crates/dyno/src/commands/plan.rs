//! `dyno plan`: what would run, for how long, and whether it can.

use crate::cli::PlanArguments;
use crate::failure::Failure;
use crate::preflight;
use crate::preflight_finding::{PreflightFinding, Weight};
use crate::printer::Printer;
use crate::spec_file;
use crate::ui;
use dyno_analysis::pilot::{self, Pilot};
use dyno_model::catalog::{OptionValue, WorkloadDescription};
use dyno_model::exit_code;
use dyno_model::fault::FaultPlan;
use dyno_model::limit::LimitMeasure;
use dyno_model::plan::{
    LoadBy, LoadPlan, Plan, Spacing, Stages, StopRule, Storage, SystemSource, Treatment, Trial, Via,
};
use dyno_model::search::{STEPS_USUAL, Search};
use dyno_model::spec::estimate::{self, RATE_ASSUMED};
use dyno_model::units::Nanos;
use dyno_report::{EN, metric_name};
use dyno_store::Run;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// Shows the plan of a spec.
///
/// # Errors
/// When the spec cannot be read or has errors.
pub(crate) fn plan(
    arguments: &PlanArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let plan = spec_file::load(&arguments.spec, catalog)?.plan;
    let findings = preflight::check(&plan, arguments.yes_write_to.as_deref(), None, EN);
    let pilot = arguments.pilot.as_deref().map(pilot).transpose()?;
    let text = if arguments.json {
        json(&plan, &findings, pilot)
    } else {
        let pilot = pilot.map_or(String::new(), |pilot| format!("{}\n\n", pilot_text(&plan, pilot)));
        text(&plan, catalog, &format!("{pilot}{}", preflight_text(&findings)))
    };
    printer.result(&text)?;
    let is_possible = findings.iter().all(|finding| finding.weight < Weight::Fatal);
    Ok(if is_possible { exit_code::OK } else { exit_code::PREFLIGHT_FAILED })
}

/// Differences for which a number of blocks is proposed.
const DIFFERENCES: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];

/// The scatter of an earlier run.
fn pilot(folder: &Path) -> Result<Pilot, Failure> {
    let data = Run::open(folder)
        .map_err(|error| Failure::from_error(exit_code::RESULTS_FAILED, &error))?
        .read_trials();
    pilot::pilot(&data).ok_or_else(|| {
        let text = format!("{} has no treatment that was measured twice", folder.display());
        Failure::new(exit_code::RESULTS_FAILED, text)
            .help("a pilot needs at least two blocks, better three or more")
    })
}

/// What the pilot says about the plan's blocks.
fn pilot_text(plan: &Plan, pilot: Pilot) -> String {
    let percent = |share: f64| format!("{:.*} %", usize::from(share < 0.1), share * 100.0);
    let one = estimate::plan(&Plan { blocks: 1, trials: block(plan), ..plan.clone() });
    let mut text = format!(
        "Pilot: within a block, the {} of two treatments differs by chance by {} (standard deviation, {} degrees of \
         freedom).\n",
        metric_name(pilot.metric, EN),
        percent(pilot.scatter()),
        pilot.degrees
    );
    let _ = writeln!(text, "  to see a difference of  blocks  time, about");
    for difference in DIFFERENCES {
        let (blocks, time) = match pilot.blocks_for(difference) {
            Some(blocks) => {
                let nanos = one.likely.0.saturating_mul(u64::from(blocks));
                (blocks.to_string(), ui::duration(Nanos(nanos).into()))
            }
            None => ("over 1000".to_owned(), String::new()),
        };
        let _ = writeln!(text, "  {:>22}  {blocks:>6}  {time}", percent(difference));
    }
    match pilot.visible_from(plan.blocks) {
        Some(from) => {
            let blocks = counted(plan.blocks as usize, "block");
            let _ = write!(
                text,
                "With {blocks} this plan sees differences from {} on, four times in five.",
                percent(from)
            );
        }
        None => text.push_str("With 1 block this plan cannot tell any difference from chance."),
    }
    text
}

/// The trials of the first block.
fn block(plan: &Plan) -> Vec<Trial> {
    plan.trials.iter().filter(|trial| trial.block == 1).cloned().collect()
}

/// Plan, time and findings for programs. Times are nanoseconds, differences shares.
fn json(plan: &Plan, findings: &[PreflightFinding], pilot: Option<Pilot>) -> String {
    let estimate = estimate::plan(plan);
    let value = json!({
        "plan": plan,
        "estimate": {
            "likely_ns": estimate.likely,
            "at_most_ns": estimate.at_most,
            "is_rate_assumed": estimate.is_rate_assumed,
        },
        "preflight": findings,
        "pilot": pilot.map(|pilot| json!({
            "metric": pilot.metric,
            "standard_deviation": pilot.deviation,
            "degrees_of_freedom": pilot.degrees,
            "visible_from": pilot.visible_from(plan.blocks),
            "blocks_for": DIFFERENCES.map(|difference| json!({
                "difference": difference,
                "blocks": pilot.blocks_for(difference),
            })),
        })),
    });
    format!("{value:#}")
}

/// The plan for people, with what is to be said at its end.
fn text(plan: &Plan, catalog: &[WorkloadDescription], end: &str) -> String {
    let mut text = format!("{}\n\n", plan.title);
    for system in &plan.systems {
        let _ = writeln!(text, "  system    {}: {}", system.name, source(&system.source));
    }
    let Some(first) = plan.treatments.first() else { return text };
    let _ = writeln!(text, "  workload  {}", workload(plan, first, catalog));
    let mut rules: Vec<String> = Vec::new();
    for treatment in &plan.treatments {
        let load = &treatment.load;
        let rule = [
            load.find.map_or_else(String::new, find),
            stop(load),
            arriving(load),
            warmup(load.warmup),
            with(load.think, "of think time"),
            with(load.statement_timeout, "for each answer"),
        ];
        let rule = rule.concat();
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let _ = writeln!(text, "  measure   {}", rules.join("; or "));
    for (i, factor) in plan.factors.iter().enumerate() {
        let _ = writeln!(text, "  factor    {factor}: {}", levels(plan, i).join(", "));
    }
    for storage in &plan.storages {
        let _ = writeln!(text, "  storage   {}: {}", storage.name, place(storage));
    }
    for endpoint in &plan.endpoints {
        let _ = writeln!(text, "  endpoint  {}: {}", endpoint.name, way(&endpoint.via));
    }
    for fault in &plan.faults {
        let _ = writeln!(text, "  fault     {}: {}", plan.systems[fault.system].name, harm(fault));
    }
    let _ = writeln!(text, "  design    {}\n", design(plan));
    let width = plan.trials.first().map_or(0, |trial| trial.id.len());
    let _ = writeln!(text, "  {:width$}  treatment", "trial");
    let mut started = None;
    for trial in &plan.trials {
        let treatment = plan.treatment(trial);
        let start = (trial.block, plan.whole_plot(treatment));
        if plan.is_split() && started.replace(start) != Some(start) {
            let _ = writeln!(text, "  {:width$}  ({})", "", ui::start(plan, treatment));
        }
        let _ = writeln!(text, "  {:width$}  {}", trial.id, ui::treatment(plan, treatment));
    }
    let _ = writeln!(text, "\n{}\n\n{}", time(plan), end);
    text
}

/// Folders and commands of a storage.
fn place(storage: &Storage) -> String {
    let mut text = storage.data.display().to_string();
    if let Some(log) = &storage.log {
        let _ = write!(text, ", log in {}", log.display());
    }
    for (word, command) in [("before", &storage.before), ("after", &storage.after)] {
        if let Some(line) = command.as_ref().and_then(|command| command.trim().lines().next()) {
            let _ = write!(text, ", {word} `{line}`");
        }
    }
    text
}

/// What is done to a system, and when.
fn harm(fault: &FaultPlan) -> String {
    let within = match fault.within {
        Nanos(0) => String::new(),
        within => format!(" to {}", ui::exact(Nanos(fault.at.0 + within.0).into())),
    };
    format!("{} {} after {}{within}", fault.action, fault.object(), ui::exact(fault.at.into()))
}

/// What a way to a server leads along.
fn way(via: &Via) -> String {
    match via {
        Via::Tcp => "TCP to the server".to_owned(),
        Via::Socket => "the server's unix socket".to_owned(),
        Via::Address(address) => address.to_string(),
        Via::Proxy(proxy) => format!("{}, started by dyno", proxy.kind.name()),
        Via::Application(it) => format!("{} in {}, started by dyno", it.war.display(), it.kind.name()),
    }
}

/// Treatments, blocks, order and starts in a sentence.
fn design(plan: &Plan) -> String {
    let treatments = counted(plan.treatments.len(), "treatment");
    let trials = counted(plan.trials.len(), "trial");
    let blocks = match plan.budget {
        Some(_) => format!("at most {} blocks", plan.blocks),
        None => counted(plan.blocks as usize, "block"),
    };
    let seed = plan.seed;
    if plan.is_split() {
        let plots = plan.whole_plots().len();
        let starts = counted(plan.starts(), "start");
        return format!(
            "{treatments} in {blocks}; in each, {plots} whole plots in random order, one start each, and random order inside \
             (seed {seed}): {trials}, {starts} of servers"
        );
    }
    let each = if plan.blocks == 1 { ", in" } else { ", each in" };
    format!("{treatments} in {blocks}{each} random order (seed {seed}): {trials}")
}

/// The workloads with those options that are not as they come. What is varied is left to the lines of the factors, but for the kinds.
fn workload(experiment: &Plan, treatment: &Treatment, catalog: &[WorkloadDescription]) -> String {
    let plan = &treatment.workload;
    let mut kinds: Vec<&str> = Vec::new();
    for treatment in &experiment.treatments {
        let kind = treatment.workload.kind.as_str();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let kinds = kinds.join(", ");
    let is_varied = |name: &str, value: &OptionValue| {
        let others = experiment.treatments.iter().map(|other| other.workload.options.0.get(name));
        others.flatten().any(|other| other != value)
    };
    let defaults =
        catalog.iter().find(|workload| workload.name == plan.kind).map(WorkloadDescription::defaults);
    let is_default =
        |name: &str, value| defaults.as_ref().is_some_and(|defaults| defaults.0.get(name) == Some(value));
    let chosen: Vec<String> = plan
        .options
        .0
        .iter()
        .filter(|(name, value)| !is_default(name, value) && !is_varied(name, value))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if chosen.is_empty() { kinds } else { format!("{kinds} with {}", chosen.join(", ")) }
}

/// Levels of a factor in the order in which treatments have them.
fn levels(plan: &Plan, factor: usize) -> Vec<&str> {
    let mut levels: Vec<&str> = Vec::new();
    for treatment in &plan.treatments {
        let level = treatment.levels[factor].as_str();
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// Where a system comes from, in a line.
fn source(source: &SystemSource) -> String {
    match source {
        SystemSource::Managed(server) if server.settings.is_empty() => {
            format!("{server}, started by dyno")
        }
        SystemSource::Managed(server) => {
            let settings: Vec<String> =
                server.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            format!("{server}, started by dyno with {}", settings.join(", "))
        }
        SystemSource::Existing(existing) if existing.database.is_empty() => {
            format!("{} at {}", existing.engine, existing.endpoint)
        }
        SystemSource::Existing(existing) => {
            format!("{} at {}, database {}", existing.engine, existing.endpoint, existing.database)
        }
        SystemSource::Imported => "measured by another program".to_owned(),
    }
}

fn stop(load: &LoadPlan) -> String {
    match load.stop {
        StopRule::Transactions(1) => "1 transaction".to_owned(),
        StopRule::Transactions(total) => format!("{total} transactions of all clients together"),
        StopRule::TransactionsPerClient(each) => {
            format!("{} of each client", counted(each as usize, "transaction"))
        }
        StopRule::Rows(target) => format!("until {target} rows"),
        StopRule::Duration(window) => {
            let length = ui::exact(window.into());
            load.stages.as_ref().map_or(length.clone(), |stages| format!("{length} in {}", staged(stages)))
        }
    }
}

/// `3 stages, at most 500/s`.
fn staged(stages: &Stages) -> String {
    let highest = match stages.by {
        LoadBy::Rate => dyno_analysis::figures::rate(stages.highest()),
        LoadBy::Clients => counted(stages.highest() as usize, "client"),
    };
    format!("{}, at most {highest}", counted(stages.stages.len(), "stage"))
}

/// `the highest rate while p99 < 20 ms: about 12 loads in each trial, each `.
fn find(search: Search) -> String {
    let Search { most, measure, below, .. } = search;
    let most = match most {
        LoadBy::Rate => "the highest rate",
        LoadBy::Clients => "the most clients",
    };
    let unit = if measure == LimitMeasure::Failed { "%" } else { "ms" };
    format!("{most} while {measure} < {below} {unit}: about {STEPS_USUAL} loads in each trial, each ")
}

/// What goes before measuring.
fn warmup(warmup: Nanos) -> String {
    if warmup.0 == 0 { String::new() } else { format!(", after {} of warm-up", ui::exact(warmup.into())) }
}

/// `, 500/s arriving evenly`.
fn arriving(load: &LoadPlan) -> String {
    let spacing = match load.spacing {
        Spacing::Poisson => "",
        Spacing::Even => " evenly",
    };
    load.rate.map_or_else(String::new, |rate| {
        format!(", {} arriving{spacing}", dyno_analysis::figures::rate(rate))
    })
}

/// `, with 2 s of think time`.
fn with(time: Option<Nanos>, for_what: &str) -> String {
    time.map_or_else(String::new, |time| format!(", with {} {for_what}", ui::exact(time.into())))
}

/// `1 trial`, `5 trials`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// How long it will take, in a sentence.
fn time(plan: &Plan) -> String {
    let estimate = estimate::plan(plan);
    let likely = ui::duration(estimate.likely.into());
    let at_most = ui::duration(estimate.at_most.into());
    let assumption = if estimate.is_rate_assumed {
        format!(" at an assumed {RATE_ASSUMED} transactions/s")
    } else {
        String::new()
    };
    if let Some(budget) = plan.budget {
        let budget = ui::exact(budget.into());
        return format!(
            "It ends when its questions are decided, after three blocks at the earliest and within {budget}; all blocks would take about \
             {likely}{assumption}."
        );
    }
    format!(
        "It will take about {likely}{assumption}, and at most {at_most}; loading large tables comes on top."
    )
}

/// What preflight found, worst first, each with its remedy.
fn preflight_text(findings: &[PreflightFinding]) -> String {
    if findings.is_empty() {
        return "Preflight found nothing that speaks against it.".to_owned();
    }
    let mut findings: Vec<&PreflightFinding> = findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    let mut text = "Preflight:".to_owned();
    for finding in findings {
        let _ = write!(text, "\n  {:7}  {}: {}", finding.weight.name(), finding.place, finding.message);
        if let Some(remedy) = &finding.remedy {
            let _ = write!(text, "\n  {:7}  {remedy}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preflight_shows_what_is_impossible_first() {
        let warning = PreflightFinding::new(Weight::Warning, "MySQL", "other sessions: 3");
        let fatal =
            PreflightFinding::new(Weight::Fatal, "MariaDB", "needs 128 connections, max_connections is 100")
                .remedy("set max_connections = 150");
        insta::assert_snapshot!(preflight_text(&[warning, fatal]), @r#"
        Preflight:
          error    MariaDB: needs 128 connections, max_connections is 100
                   set max_connections = 150
          warning  MySQL: other sessions: 3
        "#);
        assert_eq!(preflight_text(&[]), "Preflight found nothing that speaks against it.");
    }
}
