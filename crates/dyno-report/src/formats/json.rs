//! The JSON report: the whole model, for other programs. [`crate::model`] documents every field;
//! its version is `report_format`.

use crate::messages::{Lang, conclusion};
use dyno_analysis::model::ReportModel;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
#[schemars(title = "report.json")]
struct Document<'a> {
    /// Language of `sentences`.
    lang: &'static str,
    /// The conclusions in words, in the order of `conclusions`.
    sentences: Vec<String>,
    #[serde(flatten)]
    model: &'a ReportModel,
}

/// Renders the model, indented, with the conclusions also in words.
pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    indented(&Document { lang: lang.code, sentences: conclusion::sentences(model, lang), model })
}

/// The JSON schema of `report.json`.
#[must_use]
pub fn report_schema() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Document<'_>>()
}

/// A document as JSON.
///
/// # Panics
/// Never: the models' maps have string keys, and their figures are finite or absent.
pub(crate) fn indented<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document).expect("the model has string keys only");
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::EN;
    use dyno_store::fixture::Shape;

    #[test]
    fn json_round_trip_preserves_conclusions_and_provenance() {
        let model = dyno_analysis::analyse(&Shape::small().read());
        let read: ReportModel = serde_json::from_str(&render(&model, EN)).expect("readable");
        assert_eq!(read.configurations.len(), model.configurations.len());
        assert_eq!(read.conclusions, model.conclusions);
        assert_eq!(read.provenance, model.provenance);
    }
}
