//! The formal test report: cover, revisions, purpose, summary, each test with its commands,
//! environment, procedure, conclusions. This module defines the contents; the page and Markdown lay
//! it out.

use crate::facts::{self, Fact};
use crate::messages::{Lang, Message, conclusion, headings, names, notes as texts, page};
use crate::table::Table;
use crate::table_builder::TableBuilder;
use crate::{cell::Cell, notes, sections, tables};
use dyno_analysis::model::{ReportModel, SystemRow};
use dyno_model::front::FrontMatter;

/// Maximum number of answers in the summary; the conclusions list all of them.
const SUMMARY_MAX: usize = 3;

/// A numbered section.
pub(crate) struct Section {
    pub(crate) title: &'static Message,
    pub(crate) elements: Vec<Element>,
}

/// An element of a section.
pub(crate) enum Element {
    /// A paragraph.
    Text(String),
    /// A list of sentences.
    List(Vec<String>),
    /// Names with values.
    Facts(Vec<Fact>),
    Heading(String),
    Table(Table),
    /// The charts of the report, if the format has charts.
    Charts,
    /// The network topology.
    Topology,
}

/// The lines of the cover below the title.
pub(crate) fn cover(model: &ReportModel) -> Vec<Fact> {
    let front = model.front.clone().unwrap_or_default();
    let latest = front.revisions.last().map(|it| it.version.clone());
    vec![
        (&headings::ORGANISATION, front.organisation.unwrap_or_default()),
        (&headings::AUTHOR, front.author.unwrap_or_default()),
        (&headings::DOCUMENT, front.document.unwrap_or_default()),
        (&headings::VERSION, latest.unwrap_or_default()),
        (
            &headings::MEASURED_ON,
            model.provenance.started_at.get(..10).unwrap_or_default().to_owned(),
        ),
    ]
}

/// Everything after the cover; empty sections are omitted.
pub(crate) fn sections(model: &ReportModel, lang: Lang) -> Vec<Section> {
    let front = model.front.clone().unwrap_or_default();
    let text = |text: Option<String>, usual: &str| {
        let text = text.unwrap_or_else(|| usual.trim().to_owned());
        if text.is_empty() { Vec::new() } else { vec![Element::Text(text)] }
    };
    let all = vec![
        Section { title: &headings::REVISIONS, elements: revisions(&front) },
        Section { title: &headings::PURPOSE, elements: text(front.purpose, &model.description) },
        Section {
            title: &headings::USAGE,
            elements: text(front.usage, texts::NOTE_USAGE.text(lang)),
        },
        Section { title: &headings::SUMMARY, elements: summary(model, lang) },
        Section { title: &headings::DETAILED, elements: detailed(model, lang) },
        Section { title: &headings::TEST_ENVIRONMENT, elements: environment(model, lang) },
        Section { title: &headings::PROCEDURE, elements: procedure(model, lang) },
        Section { title: &headings::ALL_CONCLUSIONS, elements: conclusions(model, lang) },
    ];
    all.into_iter().filter(|section| !section.elements.is_empty()).collect()
}

fn revisions(front: &FrontMatter) -> Vec<Element> {
    let table = TableBuilder::of(&front.revisions)
        .left(&headings::VERSION, |it| Cell::text(&it.version))
        .left(&headings::DATE, |it| Cell::text(&it.date))
        .left(&headings::AUTHOR, |it| Cell::text(&it.author))
        .left(&headings::CHANGE, |it| Cell::text(&it.change))
        .table();
    if table.is_empty() { Vec::new() } else { vec![Element::Table(table)] }
}

fn summary(model: &ReportModel, lang: Lang) -> Vec<Element> {
    let answers = conclusion::sentences(model, lang).into_iter().take(SUMMARY_MAX).collect();
    let mut elements = vec![
        Element::List(answers),
        Element::Charts,
        Element::Table(tables::results(model)),
        Element::Text(notes::estimates(model).text(lang).to_owned()),
    ];
    for limits in sections::limits(model, lang) {
        elements.extend([heading(limits.heading, lang), Element::Table(limits.table)]);
    }
    let others = sections::loads(model, lang).into_iter().chain(sections::faults(model, lang));
    for section in others
        .chain(sections::losses_and_anomalies(model, lang))
        .chain(sections::errors(model, lang))
    {
        elements.extend([
            heading(section.heading, lang),
            Element::Table(section.table),
            Element::Text(section.note),
        ]);
    }
    elements
}

/// A table of commands for each test.
fn detailed(model: &ReportModel, lang: Lang) -> Vec<Element> {
    let mut elements = vec![Element::Text(texts::NOTE_COMMANDS.text(lang).to_owned())];
    for configuration in tables::in_order(model) {
        elements.push(Element::Heading(names::configuration(model, configuration, lang)));
        let table = tables::commands(model, configuration, lang);
        elements.push(match table.is_empty() {
            true => Element::Text(texts::NOTE_TEST_INVALID.text(lang).to_owned()),
            false => Element::Table(table),
        });
    }
    elements
}

fn environment(model: &ReportModel, lang: Lang) -> Vec<Element> {
    let settings = tables::requested_settings(model, lang);
    let mut elements = vec![
        Element::Facts(facts::machine(model, lang)),
        heading(&headings::TOPOLOGY, lang),
        Element::Topology,
        heading(&headings::SYSTEMS, lang),
        Element::Table(roles(model, lang)),
    ];
    if !settings.is_empty() {
        elements.extend([heading(&headings::TEST_SETTINGS, lang), Element::Table(settings)]);
    }
    elements
}

fn heading(message: &Message, lang: Lang) -> Element {
    Element::Heading(message.text(lang).to_owned())
}

fn roles(model: &ReportModel, lang: Lang) -> Table {
    let location = |it: &SystemRow| match it.is_managed {
        true => format!("{}, {}", headings::THIS_MACHINE.text(lang), page::PAGE_MANAGED.text(lang)),
        false => it.address.clone(),
    };
    TableBuilder::of(&model.provenance.systems)
        .left(&headings::SYSTEM, |it| Cell::text(&it.name))
        .left(&headings::KIND, |it| Cell::text(&it.kind))
        .left(&headings::VERSION, |it| Cell::text(names::version(&it.version, lang)))
        .left(&page::PAGE_QUERY_MODE, |it| Cell::text(&it.query_mode))
        .left(&headings::PLACE, |it| Cell::text(location(it)))
        .table()
}

fn procedure(model: &ReportModel, lang: Lang) -> Vec<Element> {
    let loops = notes::Loops::of(model);
    let shown = [
        (true, &page::PAGE_METHOD_BLOCKS),
        (loops.any_closed, &page::PAGE_METHOD_LOAD),
        (loops.any_open, &page::PAGE_METHOD_LOAD_OPEN),
        (true, &page::PAGE_METHOD_HISTOGRAMS),
        (!model.audits.is_empty(), &page::PAGE_METHOD_AUDIT),
        (true, &page::PAGE_METHOD_VALIDITY),
    ];
    let method = shown.into_iter().filter(|(is_shown, _)| *is_shown);
    vec![
        Element::Facts(facts::run(model, lang)),
        Element::List(notes::workloads(model, lang)),
        Element::List(method.map(|(_, message)| message.text(lang).to_owned()).collect()),
    ]
}

fn conclusions(model: &ReportModel, lang: Lang) -> Vec<Element> {
    let reported = model.conclusions.iter().filter(|it| !model.is_beside_answers(it));
    let warnings = model.warnings.iter().map(|row| notes::warning(model, row, lang));
    let warnings: Vec<String> =
        warnings.chain(notes::incompleteness(model, usize::MAX, lang)).collect();
    let mut elements =
        vec![Element::List(reported.map(|it| conclusion::sentence(model, it, lang)).collect())];
    if !warnings.is_empty() {
        elements.extend([heading(&headings::VALIDITY, lang), Element::List(warnings)]);
    }
    elements.push(Element::Text(page::PAGE_LIMIT_MACHINE.text(lang).to_owned()));
    elements
}
