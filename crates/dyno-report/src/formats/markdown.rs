//! The full report as Markdown (GitHub's dialect), without charts.

use crate::facts::Fact;
use crate::messages::{
    Lang, Message, conclusion, fill, growth as growth_texts, headings, notes as texts,
    page as words,
};
use crate::sections::{self, Section};
use crate::table::{Table, escaped};
use crate::test_report::{self, Element, cover};
use crate::{isolation, notes, tables, topology};
use dyno_analysis::model::ReportModel;
use dyno_model::printable::lines;

pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let mut page = Page::new(&model.title, headings::SYSTEM, lang);
    if !model.description.is_empty() {
        page.paragraph(&escaped(&model.description));
    }
    page.paragraph(&escaped(&notes::origin(model, lang).join(lang.space)));
    page.paragraph(&escaped(texts::NOTE_WORDS.text(lang)));
    page.list(headings::CONCLUSIONS, &conclusion::sentences(model, lang));
    page.section(
        headings::RESULTS,
        &tables::results(model),
        &[*notes::estimates(model), *notes::Loops::of(model).note()],
    );
    notes::too_few(model, lang).iter().for_each(|note| page.paragraph(&escaped(note)));
    if model.has_bounds() {
        page.paragraph(&escaped(texts::NOTE_BOUNDS.text(lang)));
    }
    page.section(growth_texts::GROWTH, &tables::steps(model, lang), &[growth_texts::GROWTH_NOTE]);
    page.titled(sections::loads(model, lang));
    page.titled(sections::limits(model, lang));
    page.titled(sections::questions(model, lang));
    page.comparisons(model);
    page.section(growth_texts::GROWTH_COMPARISONS, &tables::step_comparisons(model, lang), &[]);
    if let Some(growth) = model.growth.as_ref().filter(|growth| !growth.comparisons.is_empty()) {
        let family = growth.comparisons.len();
        page.paragraph(&escaped(&fill!(growth_texts::GROWTH_COMPARISONS_NOTE, lang, family)));
    }
    page.titled(sections::faults(model, lang));
    page.audits(model);
    page.warnings(model);
    page.section(headings::FAILURES, &tables::failures(model, lang), &[texts::NOTE_FAILURES]);
    page.titled(sections::errors(model, lang));
    page.section(
        headings::STATEMENTS,
        &tables::statements(model, &model.statements, lang),
        &[texts::NOTE_MERGED],
    );
    page.titled(sections::machines(model, lang));
    page.section(headings::TRIALS, &tables::trials(model, None, lang), &[texts::NOTE_INVALID]);
    page.section(headings::PUBLISHED, &tables::published(model, lang), &[]);
    for source in notes::sources(model, lang) {
        page.paragraph(&escaped(&source));
    }
    page.list(headings::PROVENANCE, &notes::workloads(model, lang));
    page.list(headings::TOPOLOGY, &topology::lines(model, lang));
    page.section(headings::SYSTEMS, &tables::systems(model, lang), &[]);
    if !model.provenance.spec.is_empty() {
        page.heading(headings::SPEC);
        page.code(&model.provenance.spec);
    }
    page.text
}

pub(crate) fn test_report(model: &ReportModel, lang: Lang) -> String {
    let mut page = Page::new(&model.title, headings::SYSTEM, lang);
    page.paragraph(&escaped(headings::TEST_REPORT.text(lang)));
    page.facts(&cover(model));
    for (at, section) in test_report::sections(model, lang).into_iter().enumerate() {
        page.text.push_str(&format!("\n## {}. {}\n", at + 1, escaped(section.title.text(lang))));
        for element in section.elements {
            page.element(&element, model);
        }
    }
    page.text
}

/// A page under construction.
pub(crate) struct Page {
    pub(crate) text: String,
    /// Title of the column that contains the names of groups.
    groups: Message,
    lang: Lang,
}

impl Page {
    pub(crate) fn new(title: &str, groups: Message, lang: Lang) -> Self {
        Self { text: format!("# {}\n", escaped(title)), groups, lang }
    }

    pub(crate) fn heading(&mut self, title: Message) {
        self.text.push_str(&format!("\n## {}\n", escaped(title.text(self.lang))));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&format!("\n{text}\n"));
        }
    }

    pub(crate) fn table(&mut self, table: &Table) {
        self.text.push('\n');
        self.text.push_str(&table.to_markdown(self.groups.text(self.lang), self.lang));
    }

    /// Writes heading, table and notes; nothing for an empty table.
    fn section(&mut self, title: Message, table: &Table, notes: &[Message]) {
        if table.is_empty() {
            return;
        }
        self.heading(title);
        self.table(table);
        for note in notes {
            self.paragraph(&escaped(&fill!(note, self.lang)));
        }
    }

    fn titled(&mut self, sections: Vec<Section>) {
        for Section { heading, table, note, .. } in sections {
            self.heading(*heading);
            self.table(&table);
            self.paragraph(&escaped(&note));
        }
    }

    pub(crate) fn list(&mut self, title: Message, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.heading(title);
        self.items(items);
    }

    pub(crate) fn items(&mut self, items: &[String]) {
        self.text.push('\n');
        for item in items {
            self.text.push_str(&format!("- {}\n", escaped(item)));
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let shown = facts.iter().filter(|(_, value)| !value.is_empty());
        let items: Vec<String> =
            shown.map(|(name, value)| format!("{}: {value}", name.text(self.lang))).collect();
        self.items(&items);
    }

    /// Writes a part of a test report; only the HTML page has charts.
    fn element(&mut self, element: &Element, model: &ReportModel) {
        match element {
            Element::Text(text) => self.paragraph(&escaped(text)),
            Element::List(items) => self.items(items),
            Element::Facts(facts) => self.facts(facts),
            Element::Heading(title) => self.text.push_str(&format!("\n### {}\n", escaped(title))),
            Element::Table(table) => self.table(table),
            Element::Charts => {}
            Element::Topology => self.items(&topology::lines(model, self.lang)),
        }
    }

    fn audits(&mut self, model: &ReportModel) {
        self.section(headings::AUDIT, &tables::audits(model), &[texts::NOTE_AUDIT]);
        self.section(headings::LEDGER, &tables::ledgers(model), &[texts::NOTE_LEDGER]);
        for sentence in notes::missing_commits(model, self.lang) {
            self.paragraph(&escaped(&sentence));
        }
        self.section(headings::ANOMALIES, &isolation::table(model), &[texts::NOTE_ANOMALIES]);
        for sentence in isolation::sentences(model, self.lang) {
            self.paragraph(&escaped(&sentence));
        }
        let contents = tables::contents(model);
        if !contents.is_empty() {
            self.table(&contents);
            self.paragraph(&escaped(texts::NOTE_CONTENTS.text(self.lang)));
        }
        for sentence in notes::witnesses(model, self.lang) {
            self.paragraph(&escaped(&sentence));
        }
    }

    fn comparisons(&mut self, model: &ReportModel) {
        let table = tables::comparisons(model, self.lang);
        if !table.is_empty() {
            self.section(headings::COMPARISONS, &table, &[]);
            self.paragraph(&escaped(&notes::comparison_rules(model, self.lang)));
            self.paragraph(&escaped(texts::NOTE_DETECTABLE.text(self.lang)));
        } else if !model.comparisons.is_empty() {
            self.heading(headings::COMPARISONS);
            self.paragraph(words::PAGE_NO_RATIOS.text(self.lang));
        }
    }

    fn warnings(&mut self, model: &ReportModel) {
        let lang = self.lang;
        let warnings = model.warnings.iter().map(|row| notes::warning(model, row, lang));
        let items: Vec<_> = warnings
            .chain(notes::incompleteness(model, usize::MAX, lang))
            .chain(notes::steadiness(model, lang))
            .collect();
        self.list(headings::VALIDITY, &items);
    }

    /// A code block; its fence is longer than any run of backquotes inside.
    fn code(&mut self, code: &str) {
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        self.text.push_str(&format!("\n{fence}toml\n{}\n{fence}\n", lines(code.trim_end())));
    }
}
