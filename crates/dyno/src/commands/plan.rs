//! `dyno plan`: shows what would run and how long, and checks whether it can.

use crate::cli::PlanArguments;
use crate::failure::Failure;
use crate::preflight;
use crate::printer::Printer;
use crate::spec_file;
use dyno_analysis::pilot::{self, DIFFERENCES, Pilot};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::exit_code;
use dyno_model::plan::Plan;
use dyno_model::preflight::Weight;
use dyno_model::spec::estimate;
use dyno_report::PreflightWords;
use dyno_store::Run;
use serde_json::json;
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
    let plan = spec_file::read_experiment(&arguments.spec, catalog)?.plan;
    let lang = arguments.language.lang;
    let warnings = preflight::check(&plan, arguments.yes_write_to.as_deref(), None);
    let warnings: Vec<PreflightWords> =
        warnings.iter().map(|it| dyno_report::preflight(it, lang)).collect();
    let pilot = arguments.pilot.as_deref().map(pilot).transpose()?;
    let text = if arguments.json {
        json(&plan, &warnings, pilot)
    } else {
        let pilot = pilot.map(|pilot| dyno_report::pilot(&plan, pilot, lang));
        let parts = [Some(dyno_report::plan(&plan, catalog, lang)), pilot];
        let parts =
            parts.into_iter().flatten().chain([dyno_report::preflight_list(&warnings, lang)]);
        parts.collect::<Vec<_>>().join("\n\n")
    };
    if arguments.json { printer.result(&text) } else { printer.prose(&text) }?;
    let is_possible = warnings.iter().all(|warning| warning.weight < Weight::Fatal);
    Ok(if is_possible { exit_code::OK } else { exit_code::PREFLIGHT_FAILED })
}

/// The variation between trials of an earlier run.
fn pilot(folder: &Path) -> Result<Pilot, Failure> {
    pilot::pilot(&Run::open(folder)?.read_trials()).ok_or_else(|| {
        let text = format!("{} has no configuration with two trials", folder.display());
        Failure::new(exit_code::RESULTS_FAILED, text)
            .help("a pilot needs two blocks or more, preferably three")
    })
}

/// Plan, time and preflight results as JSON. Times are nanoseconds, differences are ratios.
fn json(plan: &Plan, warnings: &[PreflightWords], pilot: Option<Pilot>) -> String {
    let estimate = estimate::plan(plan);
    let value = json!({
        "plan": plan,
        "estimate": {
            "likely_ns": estimate.likely,
            "at_most_ns": estimate.at_most,
            "is_rate_assumed": estimate.is_rate_assumed,
        },
        "preflight": warnings,
        "pilot": pilot.map(|pilot| json!({
            "metric": pilot.metric,
            "standard_deviation": pilot.deviation,
            "degrees_of_freedom": pilot.degrees,
            "visible_from": pilot.detectable(plan.blocks),
            "blocks_for": DIFFERENCES.map(|difference| json!({
                "difference": difference,
                "blocks": pilot.blocks_for(difference),
            })),
        })),
    });
    format!("{value:#}")
}
