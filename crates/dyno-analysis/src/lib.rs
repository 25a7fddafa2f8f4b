//! From a run's data to everything that a report or a comparison says, as data. Pure: the same
//! results folder gives the same model, on any machine.
//!
//! # Layout (read in this order)
//! * [`model`]: the report as data; [`compare::model`]: a comparison as data;
//! * `view`: a run's data, arranged for lookup; `lines`: what charts draw as one line;
//! * `estimate`: means with intervals; `trials`: configurations and trials; `panels`: what charts
//!   show;
//! * `latency`: summaries and percentile curves of merged histograms, tables of statements;
//! * `heat`: the distribution of response times in the course of a trial;
//! * `checks`: audits, generator, findings;
//! * `resources`: what trials took of machine and server;
//! * `judgement`: doubts about a trial that has been read; `steadiness`: whether trials were in a
//!   steady state;
//! * `growth`: figures over the rows of a table that grows;
//! * `eligibility`: which trials are compared, and what is held against a configuration;
//! * `pairs`: who is compared with whom; `questions`: one effect over all cells that ask the same;
//! * `comparisons`: ratios and verdicts;
//! * `shortage`: trials with too few transactions for a percentile;
//! * `limits`: whether figures keep to what the spec says;
//! * `search`: the highest loads that searches found;
//! * `stages`: what each stage of a load brought;
//! * `named`: figures of transactions and statements by name, and of client groups;
//! * `interim_analyses`: whether a run whose number of blocks depends on its data goes on;
//! * `conclusions`: what follows, as typed statements;
//! * `provenance`: where, when and with what;
//! * `topology`: who talks to whom;
//! * `gather`: several runs of one thing as one;
//! * [`compare`]: two sets of runs against each other, for `dyno compare`;
//! * [`pilot`]: how many blocks the next run needs;
//! * [`figures`]: how plain numbers look;
//! * [`stats`]: Student's t, Welch, paired comparison, mixed model, corrections for many
//!   comparisons, verdicts.
//!
//! # Invariants
//! No word that a reader sees is made here but names and values: sentences and headings are
//! `dyno-report`'s. `stats` imports only `std`.
#![warn(missing_docs)]

mod checks;
mod claim;
pub mod compare;
mod comparisons;
mod conclusions;
mod eligibility;
mod estimate;
mod faults;
pub mod figures;
mod gather;
mod growth;
mod heat_map;
mod interim;
mod judgement;
mod latency;
mod limits;
mod lines;
pub mod model;
mod named;
mod pairs;
mod panels;
pub mod pilot;
mod provenance;
mod questions;
mod resources;
mod search;
mod shortage;
mod stages;
pub mod stats;
mod steadiness;
mod topology;
mod trials;
mod view;

#[cfg(test)]
mod tests;

use compare::PoolError;
use comparisons::Compared;
use dyno_store::{Run, RunData, StoreError, results_below};
pub use gather::gather;
pub use interim::interim_analysis;
pub use lines::level_name;
use model::{REPORT_FORMAT, ReportModel};
use std::path::{Path, PathBuf};
use view::View;

/// Reads a results folder and analyses it.
///
/// # Errors
/// When it is no results folder or its plan cannot be read. Whatever else is damaged is named in
/// the model.
pub fn load(folder: &Path) -> Result<ReportModel, StoreError> {
    Ok(analyse(&Run::open(folder)?.read_trials()))
}

/// Reads results folders, or folders that hold several, and analyses them as one run.
///
/// # Errors
/// When one cannot be read, or they are not runs of one thing.
pub fn load_together(folders: &[PathBuf]) -> Result<ReportModel, LoadError> {
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

/// Why runs cannot be reported together.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// One cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// They are not runs of one thing.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// Makes the report's model.
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
        judged_by: view.plan().primary_metric(),
        compare: view.run.plan.compare,
        lines: view.lines.clone(),
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
        generator: checks::generator(&view),
        resources: resources::rows(&view),
        warnings: checks::warnings(&view),
        questions,
        comparisons,
        comparison_rules,
        limits: limits::limits(&view),
        searches: search::searches(&view),
        stages: stages::stages(&view),
        transactions: named::transactions(&view),
        background: named::background(&view),
        interim_analyses: interim::interim_analyses(view.run),
        growth: growth::growth(&view),
        published: panels::published(&view.run.plan),
    };
    model.conclusions = conclusions::conclude(&model);
    model.conclusions.splice(0..0, claim::conclude(&model, view.plan()));
    model
}
