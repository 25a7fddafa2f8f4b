//! The test report as a page that is made for paper.

use super::PAGE_STYLE;
use super::charts;
use super::facets::Facets;
use super::page::Page;
use super::setting::{self, pairs};
use crate::chart::svg::STYLE_SHEET;
use crate::messages::{Lang, headings};
use crate::test_report::{Part, cover, sections};
use dyno_analysis::model::ReportModel;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("../assets/test-report.css");

/// The page.
pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let facets = Facets::of(model);
    let page = Page { model, lang, facets: &facets };
    let sections = sections(model, lang);
    let whole = html! {
        (DOCTYPE)
        html lang=(lang.code) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "dyno " (model.provenance.dyno_version) };
                title { (model.title) }
                style { (PreEscaped(STYLE_SHEET)) (PreEscaped(PAGE_STYLE)) (PreEscaped(STYLE)) }
            }
            body.test-report {
                main {
                    header.cover {
                        p.kind { (page.text(&headings::TEST_REPORT)) }
                        h1 { (model.title) }
                        (pairs(&page, &cover(model)))
                    }
                    @for section in &sections {
                        section {
                            h2 { (page.text(section.title)) }
                            @for part in &section.parts { (layout(&page, part)) }
                        }
                    }
                }
            }
        }
    };
    crate::grid::with_whole_figures(&whole.into_string())
}

fn layout(page: &Page<'_>, part: &Part) -> Markup {
    match part {
        Part::Text(text) => html! { @for text in text.split("\n\n") { p { (text) } } },
        Part::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Part::Facts(facts) => pairs(page, facts),
        Part::Heading(title) => html! { h3 { (title) } },
        Part::Table(table) => page.table(table.clone()),
        Part::Charts => {
            let (main, _) = charts::figures(page);
            html! { @for figure in &main { (figure.markup(page)) } }
        }
        Part::Topology => setting::topology(page),
    }
}
