//! Analysis of a run: builds the data of reports and comparisons from a results folder. Pure: the
//! same results folder gives the same model on any machine.
//!
//! # Layout (read in this order)
//! * [`model`]: the report as data; [`compare::model`]: a comparison as data;
//! * `view`: a run's data, indexed for lookup; `series`: the series of charts;
//! * `estimate`: means with intervals; `trials`: configurations and trials; `panels`: the panels of
//!   charts;
//! * `latency`: summaries and percentile curves of merged histograms, tables of statements;
//! * `heat_map`: the latency heat map of a trial;
//! * `checks`: audits, load generator, warnings;
//! * `resources`: the resources that trials used on the machine and in the server;
//! * `judgement`: warnings about a stored trial; `steadiness`: whether trials were in a steady
//!   state;
//! * `growth`: figures over the number of rows of a growing table;
//! * `eligibility`: which trials are compared, and why a configuration is not;
//! * `pairs`: which configurations are compared; `questions`: one effect over all configuration
//!   pairs that answer the same question;
//! * `comparisons`: ratios and verdicts;
//! * `shortage`: trials with too few transactions for a percentile;
//! * `limits`: whether figures meet the limits of the spec;
//! * `search`: the highest loads that searches found;
//! * `parts`: figures of stages, of transactions and statements by name, and of client groups;
//! * `interim`: whether a run with a data-dependent number of blocks continues;
//! * `conclusions`: conclusions as typed statements;
//! * `provenance`: time, machine and software of the measurement;
//! * `topology`: which components communicate;
//! * `gather`: several runs of the same experiment pooled as one;
//! * [`compare`]: two sets of runs against each other, for `dyno compare`;
//! * [`history`]: a figure over the runs of an experiment;
//! * [`pilot`]: how many blocks the next run needs;
//! * [`figures`]: formatting of plain numbers;
//! * [`stats`]: Student's t, Welch's test, paired comparison, mixed model, corrections for multiple
//!   comparisons, verdicts.
//!
//! # Invariants
//! This crate produces no text for readers except names and values: `dyno-report` writes sentences
//! and headings. `stats` imports only `std`.
#![warn(missing_docs)]

mod claim;
pub mod compare;
mod conclusions;
mod descriptive;
mod estimate;
pub mod figures;
mod gather;
pub mod history;
mod inference;
pub mod model;
mod provenance;
mod series;
pub mod stats;
mod topology;
mod validity;
mod view;

#[cfg(test)]
mod tests;

use descriptive::{checks, faults, heat_map, latency, panels, parts, resources, search, trials};
pub use inference::pilot;
use inference::{comparisons, growth, interim, limits, pairs, questions};
use validity::{eligibility, judgement, shortage, steadiness};

use compare::PoolError;
use comparisons::Compared;
use dyno_store::{Run, RunData, StoreError, results_below};
pub use gather::gather;
pub use interim::interim_analysis;
use model::{REPORT_FORMAT, ReportModel};
pub use series::level_name;
use std::path::{Path, PathBuf};
use view::View;

/// Reads a results folder and analyses it.
///
/// # Errors
/// If the folder is no results folder or its plan cannot be read. The model lists any other damage.
pub fn read_model(folder: &Path) -> Result<ReportModel, StoreError> {
    Ok(analyse(&Run::open(folder)?.read_trials()))
}

/// Reads results folders, or folders that contain several, and analyses them as one run.
///
/// # Errors
/// If a folder cannot be read, or the runs are not of the same experiment.
pub fn read_model_of_all(folders: &[PathBuf]) -> Result<ReportModel, ReadError> {
    let mut parts = Vec::new();
    for folder in folders {
        for folder in results_below(folder)? {
            parts.push(Run::open(&folder)?.read_trials());
        }
    }
    match parts.len() {
        1 => Ok(analyse(&parts.remove(0))),
        _ => Ok(analyse(&gather(parts)?)),
    }
}

/// The reason why runs cannot be reported together.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A results folder cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runs are not of the same experiment.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// Builds the model of the report.
#[must_use]
pub fn analyse(data: &RunData) -> ReportModel {
    let view = View::new(data);
    let configurations = trials::configuration_rows(&view);
    let Compared { questions, comparisons, rules: comparison_rules, .. } =
        comparisons::compare(&view, 1.0);
    let completeness = trials::completeness(&view);
    let mut model = ReportModel {
        report_format: REPORT_FORMAT,
        title: view.run.plan.title.clone(),
        description: view.run.plan.description.clone(),
        front: view.run.plan.front.clone(),
        provenance: provenance::provenance(view.run),
        topologies: topology::topologies(view.run),
        completeness,
        conclusions: Vec::new(),
        factors: view.run.plan.factors.clone(),
        primary_metric: view.plan().primary_metric(),
        compare: view.run.plan.compare,
        series: view.series.clone(),
        configurations,
        trials: trials::trial_rows(&view),
        panels: panels::panels(&view),
        rates: panels::rates(&view),
        percentile_curves: latency::curves(&view),
        timelines: panels::timelines(&view),
        heat_maps: heat_map::heat_maps(&view),
        statements: latency::statements(&view),
        audits: checks::audits(&view),
        faults: faults::faults(&view),
        warnings: checks::warnings(&view),
        questions,
        comparisons,
        comparison_rules,
        limits: limits::limits(&view),
        searches: search::searches(&view),
        parts: parts::parts(&view),
        interim_analyses: interim::interim_analyses(view.run),
        growth: growth::growth(&view),
        published: panels::published(&view.run.plan),
    };
    model.conclusions = conclusions::conclude(&model);
    model.conclusions.splice(0..0, claim::conclude(&model, view.plan()));
    model
}
