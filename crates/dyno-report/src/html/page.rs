//! Elements that all parts of the page share.

use super::facets::Facets;
use crate::cell::Cell;
use crate::chart::frame::Drawn;
use crate::chart::svg::{Chart, Drawing, Labels, STYLE_SHEET};
use crate::grid;
use crate::messages::{Lang, Message, fill, page};
use crate::table::Table;
use crate::words::Word;
use dyno_analysis::model::ReportModel;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// With more configurations than this, the charts of each use the small layout on every medium, to
/// limit the size of the page ...
const DETAILS_SMALL: usize = 24;
/// ... and with more than this, all collapsed charts do.
const FOLDED_SMALL: usize = 60;

pub(super) const PAGE_STYLE: &str = include_str!("../assets/page.css");

/// A whole page with this body; `style` is added to the common style sheet.
pub(crate) fn document(
    lang: Lang,
    version: &str,
    title: &str,
    style: &str,
    body: &Markup,
) -> String {
    let whole = html! {
        (DOCTYPE)
        html lang=(lang.code) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "dyno " (version) };
                title { (title) }
                style { (PreEscaped(STYLE_SHEET)) (PreEscaped(PAGE_STYLE)) (PreEscaped(style)) }
            }
            (body)
        }
    };
    grid::with_whole_figures(&whole.into_string())
}

/// The context that every part of the page needs.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) model: &'a ReportModel,
    pub(super) lang: Lang,
    pub(super) facets: &'a Facets,
}

impl Page<'_> {
    pub(super) fn text(&self, message: &Message) -> &'static str {
        message.text(self.lang)
    }

    /// Returns true when there is one configuration: its timeline is then the report's main chart.
    pub(super) fn is_alone(&self) -> bool {
        self.model.configurations.len() == 1
    }

    pub(super) fn chip(&self, word: Word) -> Markup {
        grid::chip(word, self.lang)
    }

    pub(super) fn cell(&self, cell: &Cell) -> Markup {
        grid::content(cell, None, self.lang)
    }

    pub(super) fn table(&self, table: Table) -> Markup {
        grid::table(table, "", self.lang)
    }

    /// Collapsed figures; nothing if there are none.
    pub(super) fn folded_charts(&self, charts: &[ChartFigure]) -> Markup {
        html! {
            @if !charts.is_empty() { details {
                summary { (fill!(page::PAGE_ALL_CHARTS, self.lang, number = charts.len())) }
                @for figure in charts {
                    @if self.model.configurations.len() > FOLDED_SMALL {
                        (ChartFigure { chart: figure.chart.made_small(), ..figure.clone() }.markup(self))
                    } @else { (figure.markup(self)) }
                }
            } }
        }
    }

    /// A chart that each configuration has.
    pub(super) fn drawn(&self, labels: Labels<'_>, draw: impl Fn(Drawing) -> Chart) -> Drawn {
        match self.model.configurations.len() {
            ..=DETAILS_SMALL => Drawn::of(labels, draw),
            _ => Drawn::small(labels, draw),
        }
    }

    /// A table that is collapsed on screen and expanded on paper.
    pub(super) fn printed_rows(&self, table: Table) -> Markup {
        html! {
            details.paper.rows {
                summary { (fill!(page::PAGE_ALL_ROWS, self.lang, number = table.rows())) }
                (self.table(table))
            }
        }
    }

    /// A collapsed table, with a note below it.
    pub(super) fn all_rows(&self, table: Table, note: Option<String>) -> Markup {
        html! {
            details {
                summary { (fill!(page::PAGE_ALL_ROWS, self.lang, number = table.rows())) }
                (self.table(table))
                @if let Some(note) = note { p.note { (note) } }
            }
        }
    }
}

/// A chart with its caption and its collapsed data table.
#[derive(Clone)]
pub(super) struct ChartFigure {
    /// Unique in the page; also the name of the file of a stand-alone chart.
    pub(super) id: String,
    /// The result, or the subject.
    pub(super) title: String,
    /// The subject, if the title states a result that the first screen already gives in a sentence.
    pub(super) topic: Option<String>,
    /// Explanation of marks and bars, and n.
    pub(super) captions: Vec<String>,
    pub(super) chart: Drawn,
    /// Table with the same figures.
    pub(super) data: Option<Markup>,
}

impl ChartFigure {
    /// Sets the subject of a figure whose title may be a result.
    pub(super) fn about(self, topic: impl Into<String>) -> Self {
        Self { topic: Some(topic.into()), ..self }
    }

    pub(super) fn markup(&self, page: &Page<'_>) -> Markup {
        let caption = html! {
            @if !self.captions.is_empty() {
                div.caption { @for caption in &self.captions { p { (grid::unbroken(caption)) } } }
            }
        };
        self.titled(page, &self.title, &caption)
    }

    /// The figure on the first screen, which has separate sentences: its subject appears above it,
    /// and the caption is collapsed below.
    pub(super) fn heading_markup(&self, page: &Page<'_>) -> Markup {
        let caption = html! {
            @if !self.captions.is_empty() {
                details.caption.paper {
                    summary { (page.text(&page::PAGE_READ_CHART)) }
                    @for caption in &self.captions { p { (grid::unbroken(caption)) } }
                }
            }
        };
        self.titled(page, self.topic.as_deref().unwrap_or(&self.title), &caption)
    }

    fn titled(&self, page: &Page<'_>, title: &str, caption: &Markup) -> Markup {
        html! {
            figure id=(self.id) {
                figcaption { strong { (grid::unbroken(title)) } }
                div.scroll { (PreEscaped(self.chart.inline())) }
                (caption)
            }
            // Outside the figure element, which must not be split across pages.
            @if let Some(data) = &self.data {
                details.data { summary { (page.text(&page::PAGE_DATA)) } (data) }
            }
        }
    }
}
