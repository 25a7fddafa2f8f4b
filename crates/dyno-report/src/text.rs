//! The report for a terminal: what `dyno run` prints at its end. Conclusions come last, where the eye is.

use super::table::wrapped;
use super::{isolation, notes, sections, tables, topology};
use crate::messages::{Lang, Message, conclusion, growth as growth_texts, headings, notes as texts};
use dyno_analysis::model::ReportModel;

/// Columns of the narrowest terminal that is laid out for.
const WIDTH: usize = 80;
/// Doubts that a short report lists; the worst come first.
const DOUBTS_MAX: usize = 8;
/// Unreadable places that a short report lists.
const UNREADABLE_MAX: usize = 3;

pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let mut text = wrapped(&model.title, "", WIDTH);
    for sentence in notes::origin(model, &model.provenance.started_at, lang) {
        text.push_str(&wrapped(&sentence, "", WIDTH));
    }
    text.push_str(&wrapped(&notes::systems(model, lang), "", WIDTH));
    // A generator before a server needs no picture.
    for line in topology::more_than_a_server(model, lang) {
        text.push_str(&wrapped(&line, "", WIDTH));
    }
    if model.completeness.measured > 0 {
        heading(&mut text, headings::RESULTS, lang);
        text.push_str(&tables::results(model).to_text(lang));
        text.push_str(&wrapped(&texts::NOTE_ESTIMATES.fill(lang, &[]), "", WIDTH));
        if model.has_bounds() {
            text.push_str(&wrapped(texts::NOTE_BOUNDS.text(lang), "", WIDTH));
        }
    }
    if model.growth.is_some() {
        heading(&mut text, growth_texts::GROWTH, lang);
        text.push_str(&tables::steps(model, lang).to_text(lang));
    }
    let parts = sections::faults(model, lang).into_iter().chain(sections::kept(model, lang));
    let parts = parts.chain(sections::loads(model, lang)).chain(sections::limits(model, lang));
    for part in parts.chain(sections::questions(model, lang)) {
        heading(&mut text, *part.heading, lang);
        text.push_str(&part.table.to_text(lang));
    }
    let missing = notes::incompleteness(model, UNREADABLE_MAX, lang);
    if !model.findings.is_empty() || !missing.is_empty() {
        heading(&mut text, headings::VALIDITY, lang);
        for row in model.findings.iter().take(DOUBTS_MAX) {
            text.push_str(&wrapped(&notes::doubt(model, row, lang), "* ", WIDTH));
        }
        for sentence in missing {
            text.push_str(&wrapped(&sentence, "* ", WIDTH));
        }
    }
    if !model.conclusions.is_empty() {
        heading(&mut text, headings::CONCLUSIONS, lang);
        let sentences = conclusion::sentences(model, lang);
        for sentence in sentences.into_iter().chain(isolation::outside(model, lang)) {
            text.push_str(&wrapped(&sentence, "* ", WIDTH));
        }
    }
    text
}

fn heading(text: &mut String, title: Message, lang: Lang) {
    text.push('\n');
    text.push_str(title.text(lang));
    text.push('\n');
}
