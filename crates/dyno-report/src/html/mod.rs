//! The report as one HTML file: no script needed, no network access, charts as inline SVG, ready
//! for A4.
//!
//! # Layout
//! The page's order is that of the questions a reader asks: header and [`tiles`] (the main
//! figures), conclusions with the first chart ([`summary`]), results ([`tables`]), the other charts
//! ([`charts`] with [`curve_figures`], [`latency_throughput`] and [`percentiles`]), comparisons,
//! audit, errors and warnings ([`tables`] again), [`details`] (one configuration after the other),
//! [`setting`] (machine, systems, spec, method). [`test_report`] is another page of the same parts.
//! [`facets`] decides which series share a panel; the contents of tables are the same for all
//! formats (`crate::tables`), and `crate::grid` lays them out.
//!
//! # Invariants
//! Renderers compute nothing but layout. All words come from [`crate::messages`]; everything
//! inserted is escaped by maud, except the charts, which escape for themselves, and this folder's
//! own style sheets and script.

mod facets;
mod page;
mod plots;
#[cfg(test)]
pub(crate) mod sample;
mod setting;
mod summary;
mod tables;
mod test_report;
#[cfg(test)]
mod tests;
mod tiles;

use plots::{
    charts, curve_figures, details, errors, forests, growth, heat_map, latency_throughput,
    percentiles, resources, searches, titles,
};

use crate::grid::without_optional_ends;
use crate::messages::{Lang, headings, page as words};
use crate::sections::{self, Section};
use dyno_analysis::model::ReportModel;
use facets::Facets;
use maud::{PreEscaped, html};
use page::Page;
pub(crate) use page::document;
pub(crate) use test_report::render as test_report;

pub(crate) const SCRIPT: &str = include_str!("../assets/page.js");

pub(crate) fn render(model: &ReportModel, lang: Lang) -> String {
    let facets = Facets::of(model);
    let page = Page { model, lang, facets: &facets };
    let (main, more) = charts::charts(&page);
    let (first, main) = main.split_at(main.len().min(1));
    let (faults, loads) = (sections::faults(model, lang), sections::loads(model, lang));
    let link = |part: &Section| (part.id, part.heading);
    let links = faults.first().map(link).into_iter().chain([("results", &headings::RESULTS)]);
    let links = links.chain(loads.iter().map(link).filter(|(id, _)| *id != "searches")).chain([
        ("comparisons", &headings::COMPARISONS),
        ("audit", &headings::AUDIT),
        ("validity", &headings::VALIDITY),
        ("details", &words::PAGE_DETAILS),
        ("setting", &headings::PROVENANCE),
        ("method", &headings::METHOD),
    ]);
    let links = links.filter(|(id, _)| match *id {
        "comparisons" => tables::has_comparisons(&page),
        "audit" => !model.audits.is_empty(),
        _ => true,
    });
    let body = html! { body {
        main {
            (summary::header(&page))
            (tiles::markup(&page))
            (summary::conclusions(&page, first.first()))
            nav aria-label=(page.text(&words::PAGE_CONTENTS)) {
                @for (id, heading) in links { a href={ "#" (id) } { (page.text(heading)) } " " }
                button #open-all type="button" hidden { (page.text(&words::PAGE_OPEN_ALL)) }
            }
            (tables::section(&page, faults))
            (tables::results(&page))
            @for figure in main { (figure.markup(&page)) }
            (page.folded_charts(&more))
            @for part in loads { (tables::section(&page, vec![part])) }
            (tables::section(&page, sections::limits(model, lang)))
            (tables::section(&page, sections::questions(model, lang)))
            (tables::comparisons(&page))
            (tables::audit(&page))
            (tables::section(&page, sections::errors(model, lang)))
            (tables::validity(&page))
            (details::section(&page))
            (setting::section(&page))
            (setting::method(&page))
            p.note.on-paper { (page.text(&words::PAGE_PRINTED)) }
        }
        script { (PreEscaped(SCRIPT)) }
    } };
    let whole = document(lang, &model.provenance.dyno_version, &model.title, "", &body);
    without_optional_ends(&whole)
}

/// The charts of a report as stand-alone SVG files, by a short name: for a README or a slide.
pub(crate) fn stand_alone_charts(model: &ReportModel, lang: Lang) -> Vec<(String, String)> {
    let facets = Facets::of(model);
    let page = Page { model, lang, facets: &facets };
    let (main, more) = charts::charts(&page);
    let figures = main.into_iter().chain(more);
    figures.map(|figure| (figure.id.clone(), figure.chart.stand_alone(lang.code))).collect()
}
