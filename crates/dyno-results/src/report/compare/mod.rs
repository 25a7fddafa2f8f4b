//! A comparison of two sides: its data and its renderers. As for reports, every renderer is a function of the model and computes
//! nothing.

mod csv;
mod html;
pub mod model;
mod notes;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use super::Format;
use crate::analysis::compare::Side;
use crate::analysis::judgement;
use crate::messages::{Lang, compare};
use crate::store::{Run, StoreError, results_below};
use model::CompareModel;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Reads a side: a results folder, or a folder that holds several. Its trials are judged as for a report.
///
/// # Errors
/// When there is none, or one cannot be read. What is damaged beyond its plan is named in the comparison.
pub fn load(folder: &Path) -> Result<Side, StoreError> {
    let folders = results_below(folder)?;
    let judged = |folder: &PathBuf| {
        let mut run = Run::open(folder)?;
        run.each_course(|plan, record, timeline, sessions| {
            record.findings = judgement::judge(plan, record, timeline, sessions).findings;
        });
        Ok(run)
    };
    let runs = folders.iter().map(judged);
    Ok(Side { folder: folder.display().to_string(), runs: runs.collect::<Result<_, _>>()? })
}

/// Renders a comparison.
#[must_use]
pub fn render(model: &CompareModel, format: Format, lang: Lang) -> String {
    match format {
        Format::Html => html::render(model, lang),
        Format::Markdown => text::markdown(model, lang),
        Format::Csv => csv::render(model),
        Format::Json => json(model, lang),
        Format::Text => text::text(model, lang),
    }
}

/// The model as JSON, with its sentences. [`model`] documents every field; its version is `compare_format`.
fn json(model: &CompareModel, lang: Lang) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        /// Language of the sentences.
        lang: &'static str,
        /// The outcome in words.
        sentence: String,
        /// The findings in words, in the order of `findings`.
        sentences: Vec<String>,
        #[serde(flatten)]
        model: &'a CompareModel,
    }
    let document = Document {
        lang: lang.code(),
        sentence: compare::outcome(model, lang),
        sentences: model.findings.iter().map(|finding| compare::doubt(&finding.doubt, lang)).collect(),
        model,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the model has string keys only");
    text.push('\n');
    text
}
