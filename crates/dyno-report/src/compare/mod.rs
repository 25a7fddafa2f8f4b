//! Renderers of a comparison of two sides. As for reports, every renderer is a function of the
//! model and computes no statistics.

mod csv;
pub mod github;
mod html;
mod notes;
mod overlay;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod tiles;

use crate::format::Format;
use crate::json::indented;
use crate::messages::{Lang, compare};
use dyno_analysis::compare::model::CompareModel;
use serde::Serialize;

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

/// The model as JSON, with its sentences. [`dyno_analysis::compare::model`] documents every field;
/// its version is `compare_format`.
fn json(model: &CompareModel, lang: Lang) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        /// Language of the sentences.
        lang: &'static str,
        /// The outcome as text.
        sentence: String,
        /// The warnings as text, in the order of `warnings`.
        sentences: Vec<String>,
        /// The answers over all configurations as text, in the order of `overall`, then of
        /// `statements`.
        answers: Vec<String>,
        #[serde(flatten)]
        model: &'a CompareModel,
    }
    let overall = model.overall.iter().chain(&model.statements);
    indented(&Document {
        lang: lang.code,
        sentence: compare::outcome(model, lang),
        sentences: model
            .warnings
            .iter()
            .map(|warning| compare::warning(&warning.kind, lang))
            .collect(),
        answers: overall.map(|it| compare::answer(model, it, lang)).collect(),
        model,
    })
}
