//! The formal test report as an HTML page for printing.

use super::charts;
use super::facets::Facets;
use super::page::{Page, document};
use super::setting::{self, pairs};
use crate::messages::{Lang, headings};
use crate::test_report::{Element, cover, sections};
use dyno_analysis::model::ReportModel;
use maud::{Markup, html};

const STYLE: &str = include_str!("../assets/test-report.css");

pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let facets = Facets::of(model);
    let page = Page { model, lang, facets: &facets };
    let body = html! {
        body.test-report {
            main {
                header.cover {
                    p.kind { (page.text(&headings::TEST_REPORT)) }
                    h1 { (model.title) }
                    (pairs(&page, &cover(model)))
                }
                @for section in &sections(model, lang) {
                    section {
                        h2 { (page.text(section.title)) }
                        @for element in &section.elements { (layout(&page, element)) }
                    }
                }
            }
        }
    };
    document(lang, &model.provenance.dyno_version, &model.title, STYLE, &body)
}

fn layout(page: &Page<'_>, element: &Element) -> Markup {
    match element {
        Element::Text(text) => html! { @for text in text.split("\n\n") { p { (text) } } },
        Element::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Element::Facts(facts) => pairs(page, facts),
        Element::Heading(title) => html! { h3 { (title) } },
        Element::Table(table) => page.table(table.clone()),
        Element::Charts => {
            let (main, _) = charts::charts(page);
            html! { @for figure in &main { (figure.markup(page)) } }
        }
        Element::Topology => setting::topology(page),
    }
}
