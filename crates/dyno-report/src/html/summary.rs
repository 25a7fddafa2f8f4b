//! The top of the page: title, one line of provenance, and what follows from the figures.

use super::page::Page;
use crate::figures;
use crate::messages::{conclusion, headings, notes, page};
use crate::words::{self, Word};
use dyno_analysis::model::{Conclusion, Verdict};
use maud::{Markup, html};

/// Conclusions shown before the rest is folded.
const SHOWN: usize = 10;

/// Title, description, provenance, and what is missing.
pub(super) fn header(page: &Page<'_>) -> Markup {
    let model = page.model;
    html! {
        header {
            h1 { (model.title) }
            p.provenance { (run_line(page)) (page.lang.space) (machine_line(page)) }
            @if !model.description.is_empty() { p { (model.description) } }
            @if !model.completeness.has_ended { p.alarm { (page.text(&notes::NOTE_NO_END)) } }
            @for what in &model.completeness.unreadable {
                p.alarm { (page.fill(&notes::NOTE_UNREADABLE, &[("what", what)])) }
            }
        }
    }
}

fn run_line(page: &Page<'_>) -> String {
    let provenance = &page.model.provenance;
    let (blocks, seed) = (provenance.blocks.to_string(), provenance.seed.to_string());
    let started = to_the_minute(&provenance.started_at);
    let common = [
        ("started", started.as_str()),
        ("version", &provenance.dyno_version),
        ("seed", &seed),
        ("blocks", &blocks),
    ];
    match &provenance.profile {
        None => page.fill(&notes::NOTE_RUN, &common),
        Some(profile) => {
            let values: Vec<_> = common.into_iter().chain([("profile", profile.as_str())]).collect();
            page.fill(&notes::NOTE_RUN_PROFILE, &values)
        }
    }
}

fn machine_line(page: &Page<'_>) -> String {
    let environment = &page.model.provenance.environment;
    let known = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
    page.fill(
        &notes::NOTE_MACHINE,
        &[
            ("cpu", &known(&environment.cpu_model)),
            ("processors", &environment.cpu_logical.to_string()),
            ("memory", &figures::megabytes(environment.memory_bytes)),
            ("os", &known(&environment.os_release)),
            ("kernel", &known(&environment.kernel)),
        ],
    )
}

/// `2026-11-21T09:30:12.123Z` as `2026-11-21 09:30`.
fn to_the_minute(time: &str) -> String {
    time.get(..16).map_or_else(|| time.to_owned(), |minute| minute.replace('T', " "))
}

/// What the figures say.
pub(super) fn conclusions(page: &Page<'_>) -> Markup {
    let all = &page.model.conclusions;
    let (shown, rest) = all.split_at(all.len().min(if all.len() > SHOWN + 2 { SHOWN } else { all.len() }));
    let more = page.fill(&page::PAGE_MORE_CONCLUSIONS, &[("number", &rest.len().to_string())]);
    html! {
        section #conclusions {
            h2 { (page.text(&headings::CONCLUSIONS)) }
            @if all.is_empty() { p { (page.text(&notes::NOTE_NOTHING)) } }
            ul.conclusions { @for conclusion in shown { (item(page, conclusion)) } }
            @if !rest.is_empty() {
                details {
                    summary { (more) }
                    ul.conclusions { @for conclusion in rest { (item(page, conclusion)) } }
                }
            }
        }
    }
}

fn item(page: &Page<'_>, conclusion: &Conclusion) -> Markup {
    let (chip, is_alarming) = match conclusion {
        Conclusion::Incomplete { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_INCOMPLETE, class: "warned" }), true)
        }
        Conclusion::InvalidTrials { .. } | Conclusion::DidNotWork { .. } => {
            (page.chip(Word { message: &headings::INVALID, class: "invalid severe" }), true)
        }
        Conclusion::VerdictsDisabled { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_NO_VERDICT, class: "none" }), false)
        }
        Conclusion::LostUpdates { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_LOST, class: "violated" }), true)
        }
        Conclusion::AuditViolated { .. } => {
            (page.chip(Word { message: &headings::VIOLATED, class: "violated" }), true)
        }
        Conclusion::UndecidedUpdates { .. } => {
            (page.chip(Word { message: &headings::UNDECIDED, class: "warned" }), false)
        }
        Conclusion::NoLostUpdates { .. } => {
            (page.chip(Word { message: &headings::INTACT, class: "intact" }), false)
        }
        Conclusion::GrowthCrossing { .. } | Conclusion::GrowthLead { .. } => {
            (page.chip(words::verdict(Some(Verdict::Better))), false)
        }
        Conclusion::PeakThroughput { .. } | Conclusion::GrowthCourse { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_FIGURE, class: "figure" }), false)
        }
        Conclusion::Question { question } => {
            (page.chip(words::verdict(page.model.questions[*question].effect.verdict)), false)
        }
        Conclusion::Comparison { verdict: None, .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_NO_VERDICT, class: "none" }), false)
        }
        Conclusion::Comparison { verdict, .. } => (page.chip(words::verdict(*verdict)), false),
    };
    html! {
        li {
            span { (chip) }
            span.alarm[is_alarming] { (conclusion::sentence(page.model, conclusion, page.lang)) }
        }
    }
}
