//! The text report for a terminal, which `dyno run` prints at its end. Conclusions come last, next
//! to the prompt.

use crate::messages::{
    Lang, Message, conclusion, growth as growth_texts, headings, notes as texts,
};
use crate::table::{Table, wrapped};
use crate::{isolation, notes, sections, tables, topology};
use dyno_analysis::model::ReportModel;

/// Width of the narrowest supported terminal, in columns.
const WIDTH: usize = 80;
/// Maximum number of warnings in a short report; the worst come first.
const WARNINGS_MAX: usize = 8;
/// Maximum number of load generators in a short report.
const GENERATORS_MAX: usize = 16;
/// Maximum number of unreadable places in a short report.
const UNREADABLE_MAX: usize = 3;

pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let mut screen = Screen { text: String::new(), lang };
    screen.paragraph(&model.title);
    for sentence in notes::origin(model, lang) {
        screen.paragraph(&sentence);
    }
    screen.paragraph(&notes::systems(model, lang));
    if !model.provenance.is_imported() {
        screen.paragraph(&notes::load(model, lang));
    }
    // A generator connected directly to a server needs no diagram.
    for line in topology::more_than_a_server(model, lang) {
        screen.paragraph(&line);
    }
    if model.completeness.with_results > 0 {
        screen.heading(headings::RESULTS);
        screen.table(&tables::results(model));
        screen.paragraph(notes::estimates(model).text(lang));
        notes::too_few(model, lang).iter().for_each(|note| screen.paragraph(note));
        if model.has_bounds() {
            screen.paragraph(texts::NOTE_BOUNDS.text(lang));
        }
    }
    if model.growth.is_some() {
        screen.heading(growth_texts::GROWTH);
        screen.table(&tables::steps(model, lang));
    }
    let parts = sections::faults(model, lang)
        .into_iter()
        .chain(sections::losses_and_anomalies(model, lang));
    let parts = parts.chain(sections::loads(model, lang)).chain(sections::limits(model, lang));
    for part in parts.chain(sections::questions(model, lang)) {
        screen.heading(*part.heading);
        screen.table(&part.table);
    }
    let generators = tables::generators(model);
    if (1..=GENERATORS_MAX).contains(&generators.rows()) {
        screen.heading(headings::GENERATORS);
        screen.table(&generators);
    }
    screen.list(*notes::errors_heading(model), notes::errors(model, lang));
    let warnings =
        model.warnings.iter().take(WARNINGS_MAX).map(|row| notes::warning(model, row, lang));
    screen.list(
        headings::VALIDITY,
        warnings.chain(notes::incompleteness(model, UNREADABLE_MAX, lang)),
    );
    if !model.conclusions.is_empty() {
        let sentences = conclusion::sentences(model, lang);
        screen.list(
            headings::CONCLUSIONS,
            sentences.into_iter().chain(isolation::outside(model, lang)),
        );
    }
    screen.text
}

/// The output under construction.
pub(crate) struct Screen {
    pub(crate) text: String,
    pub(crate) lang: Lang,
}

impl Screen {
    pub(crate) fn heading(&mut self, title: Message) {
        self.text.extend(["\n", title.text(self.lang), "\n"]);
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.begun_with("", text);
    }

    /// A paragraph that starts with `first`; the other lines are indented by its width.
    pub(crate) fn begun_with(&mut self, first: &str, text: &str) {
        self.text.push_str(&wrapped(text, first, WIDTH));
    }

    pub(crate) fn table(&mut self, table: &Table) {
        self.text.push_str(&table.to_text(self.lang));
    }

    /// A list of sentences.
    pub(crate) fn items(&mut self, sentences: impl IntoIterator<Item = String>) {
        sentences.into_iter().for_each(|sentence| self.begun_with("* ", &sentence));
    }

    /// A list under a heading; nothing if the list is empty.
    pub(crate) fn list(&mut self, title: Message, sentences: impl IntoIterator<Item = String>) {
        let mut sentences = sentences.into_iter().peekable();
        if sentences.peek().is_some() {
            self.heading(title);
        }
        self.items(sentences);
    }
}
