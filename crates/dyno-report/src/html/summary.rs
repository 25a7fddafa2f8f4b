//! The top of the page, one screen: title, what follows from the figures, how sure that is, what it rests on, and what would change it.

use super::page::{Figure, Page};
use crate::figures;
use crate::grid::unbroken;
use crate::messages::{conclusion, finding, headings, names, notes, page};
use crate::notes::origin;
use crate::words::{self, Word};
use dyno_analysis::model::{Conclusion, FindingRow, LimitVerdict, TrialState, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::finding::{Finding, Severity};
use maud::{Markup, html};

/// Doubts named on the first screen.
const DOUBTS: usize = 3;
/// With the scatter seen, more blocks than this are no advice.
const BLOCKS_MAX: u32 = 50;

/// Title, description, provenance, and what is missing.
pub(super) fn header(page: &Page<'_>) -> Markup {
    let model = page.model;
    let description = model.description.trim();
    let (first, rest) = description.find(". ").map_or((description, ""), |at| description.split_at(at + 1));
    html! {
        header {
            h1 { (model.title) }
            p.provenance { (unbroken(&origin(model, &to_the_minute(&model.provenance.started_at), page.lang).join(page.lang.space))) }
            @if rest.is_empty() { p { (first) } } @else { details.about.paper { summary { (first) } p { (rest) } } }
            @if !model.completeness.has_ended { p.alarm { (page.text(&notes::NOTE_NO_END)) } }
            @for what in &model.completeness.unreadable {
                p.alarm { (page.fill(&notes::NOTE_UNREADABLE, &[("what", what)])) }
            }
        }
    }
}

/// `2026-11-21T09:30:12.123Z` as `2026-11-21 09:30`.
fn to_the_minute(time: &str) -> String {
    time.get(..16).map_or_else(|| time.to_owned(), |minute| minute.replace('T', " "))
}

/// What the figures say, the first chart, and beside them how far that can be trusted.
pub(super) fn conclusions(page: &Page<'_>, figure: Option<&Figure>) -> Markup {
    let (shown, rest) = shown(page);
    let more = page.fill(&page::PAGE_MORE_CONCLUSIONS, &[("number", &rest.len().to_string())]);
    html! {
        section #conclusions {
            div.answer.tall[figure.is_some_and(|figure| figure.chart.is_tall(shown.len()))] {
                div.said {
                    h2 { (page.text(&headings::CONCLUSIONS)) }
                    @if shown.is_empty() && rest.is_empty() { p { (page.text(&notes::NOTE_NOTHING)) } }
                    ul.conclusions { @for conclusion in shown { (item(page, conclusion)) } }
                    @if !rest.is_empty() {
                        details {
                            summary { (more) }
                            ul.conclusions { @for conclusion in rest { (item(page, conclusion)) } }
                        }
                    }
                }
                @if let Some(figure) = figure { div.first { (figure.markup(page)) } }
                dl.facts {
                    dt { (page.text(&page::PAGE_SURE)) } dd { (unbroken(&sure(page))) }
                    dt { (page.text(&page::PAGE_RESTS_ON)) } dd { (rests_on(page)) }
                    dt { a href="#validity" { (page.text(&page::PAGE_DOUBTS)) } } dd { (doubts(page)) }
                    dt { (page.text(&page::PAGE_CHANGE)) } dd { (unbroken(&change(page))) }
                }
            }
        }
    }
}

/// What stands on the first screen, and what is folded: of losses the worst, and pairs and peaks only where no question was asked.
fn shown<'a>(page: &Page<'a>) -> (Vec<&'a Conclusion>, Vec<&'a Conclusion>) {
    let all = &page.model.conclusions;
    let has_losses = all.iter().any(|it| matches!(it, Conclusion::LostUpdates { .. }));
    let most = |conclusion: &Conclusion| match conclusion {
        it if page.model.is_beside_answers(it) => 0,
        Conclusion::NoLostUpdates { .. } if has_losses => 0,
        Conclusion::Question { .. } | Conclusion::Limit { .. } => 3,
        Conclusion::Comparison { .. }
        | Conclusion::PeakThroughput { .. }
        | Conclusion::GrowthCourse { .. } => 3,
        Conclusion::LostUpdates { .. } => 1,
        Conclusion::Fault { .. } => 12,
        _ => 2,
    };
    let kind = std::mem::discriminant::<Conclusion>;
    let is_shown =
        |at: usize| all[..at].iter().filter(|before| kind(before) == kind(&all[at])).count() < most(&all[at]);
    let (shown, rest): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(at, _)| is_shown(*at));
    let only =
        |them: Vec<(usize, &'a Conclusion)>| them.into_iter().map(|(_, conclusion)| conclusion).collect();
    (only(shown), only(rest))
}

fn sure(page: &Page<'_>) -> String {
    let rules = &page.model.comparison_rules;
    let model = page.model;
    let asked = model.questions.iter().map(|it| (it.metric, it.effect));
    // Where each has a single cell, the pairs are what is asked.
    let pairs =
        model.comparisons.iter().map(|it| (it.metric, it.effect)).filter(|_| model.questions.is_empty());
    let asked = asked.chain(pairs).filter(|(metric, _)| *metric == model.judged_by);
    let verdicts: Vec<Verdict> = asked.filter_map(|(_, effect)| effect.verdict).collect();
    let decided = verdicts.iter().filter(|verdict| verdict.is_decided()).count();
    let alpha = figures::limit(rules.alpha * 100.0);
    if page.model.comparisons.is_empty() {
        page.text(&page::PAGE_SURE_NOTHING).to_owned()
    } else if !rules.verdicts_enabled {
        page.fill(&page::PAGE_SURE_NO_VERDICTS, &[("needed", &rules.min_repeats.to_string())])
    } else {
        let (decided, all) = (decided.to_string(), verdicts.len().to_string());
        let metric = names::metric(page.model.judged_by, page.lang);
        let values =
            [("decided", decided.as_str()), ("questions", &all), ("alpha", &alpha), ("metric", metric)];
        page.fill(&page::PAGE_SURE_QUESTIONS, &values)
    }
}

fn rests_on(page: &Page<'_>) -> Markup {
    let model = page.model;
    let (valid, planned) = (model.completeness.valid.to_string(), model.completeness.planned.to_string());
    let blocks = model.provenance.blocks.to_string();
    let audits = || model.audits.iter().filter(|audit| audit.verdict != AuditVerdict::NotChecked);
    let violated = audits().filter(|audit| audit.verdict == AuditVerdict::Violated).count();
    let (checked, wrong) = (audits().count().to_string(), violated.to_string());
    let message = match (audits().count(), violated) {
        (0, _) => &page::PAGE_RESTS_UNCHECKED,
        (_, 0) => &page::PAGE_RESTS_INTACT,
        _ => &page::PAGE_RESTS_VIOLATED,
    };
    let trials = [("valid", valid.as_str()), ("planned", &planned), ("blocks", &blocks)];
    let not_working: u32 =
        model.treatments.iter().filter_map(|row| row.not_working).map(|it| it.trials).sum();
    let not_working = (not_working > 0).then(|| not_working.to_string());
    html! {
        (page.fill(&page::PAGE_RESTS_TRIALS, &trials)) (page.lang.space)
        @if let Some(trials) = not_working {
            (page.fill(&page::PAGE_RESTS_NOT_WORKING, &[("trials", &trials)])) (page.lang.space)
        }
        (page.text(&notes::NOTE_WORDS)) (page.lang.space)
        span.alarm[violated > 0] { (page.fill(message, &[("checked", &checked), ("violated", &wrong)])) }
    }
}

/// How many trials are doubted, and why: that a server stood still always, then what weighs most.
fn doubts(page: &Page<'_>) -> Markup {
    let model = page.model;
    let stands_still =
        |row: &&FindingRow| matches!(row.finding, Finding::Stall { .. } | Finding::Collapse { .. });
    let others = model.findings.iter().filter(|row| !stands_still(row) && row.severity > Severity::Note);
    let named = model.findings.iter().filter(stands_still).chain(others).take(DOUBTS);
    let is_doubted = |trial: &&dyno_analysis::model::TrialRow| {
        matches!(trial.state, TrialState::Warned | TrialState::Invalid)
    };
    let values = [
        ("doubted", model.trials.iter().filter(is_doubted).count().to_string()),
        ("measured", model.completeness.measured.to_string()),
        ("kinds", model.findings.len().to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    html! {
        @if model.findings.is_empty() {
            (page.text(&page::PAGE_DOUBTS_NONE))
        } @else {
            (page.fill(&page::PAGE_DOUBTS_TRIALS, &values))
            ul { @for row in named {
                li {
                    (unbroken(&finding::sentence(&row.finding, page.lang))) (page.lang.space)
                    span.pm { (page.fill(&page::PAGE_REACH, &[("reach", &crate::notes::reach(model, row, page.lang))])) }
                }
            } }
        }
    }
}

fn change(page: &Page<'_>) -> String {
    let model = page.model;
    let rules = &model.comparison_rules;
    let (margin, now) = (figures::limit(rules.margin * 100.0), model.provenance.blocks.to_string());
    if !rules.verdicts_enabled && !model.comparisons.is_empty() {
        return page.fill(&page::PAGE_CHANGE_ENABLE, &[("needed", &rules.min_repeats.to_string())]);
    }
    let Some(blocks) = model.blocks_to_decide() else {
        return page.text(&page::PAGE_CHANGE_SETTING).to_owned();
    };
    let message = if blocks > BLOCKS_MAX { &page::PAGE_CHANGE_SCATTER } else { &page::PAGE_CHANGE_BLOCKS };
    let blocks = figures::about(blocks.into());
    page.fill(message, &[("blocks", &blocks), ("now", &now), ("margin", &margin)])
}

/// What a claim comes to that holds somewhere, is contradicted somewhere, or both.
fn claimed(holds: bool, is_contradicted: bool) -> Verdict {
    match (holds, is_contradicted) {
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        _ => Verdict::Inconclusive,
    }
}

fn item(page: &Page<'_>, conclusion: &Conclusion) -> Markup {
    let (chip, is_alarming) = match conclusion {
        Conclusion::Claim { is_judged: false, .. }
        | Conclusion::VerdictsDisabled { .. }
        | Conclusion::Comparison { verdict: None, .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_NO_VERDICT, class: "none" }), false)
        }
        Conclusion::Claim { holds, contradicted, .. } => {
            let verdict = claimed(!holds.clients.is_empty(), !contradicted.clients.is_empty());
            (page.chip(words::verdict(Some(verdict))), false)
        }
        Conclusion::Incomplete { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_INCOMPLETE, class: "warned" }), true)
        }
        Conclusion::DidNotWork { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_NOT_WORKING, class: "failed severe" }), true)
        }
        Conclusion::InvalidTrials { .. } => {
            (page.chip(Word { message: &headings::INVALID, class: "invalid severe" }), true)
        }
        Conclusion::LostUpdates { .. } | Conclusion::LostCommits { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_LOST, class: "violated" }), true)
        }
        Conclusion::AuditViolated { .. } | Conclusion::Anomalies { .. } => {
            (page.chip(Word { message: &headings::VIOLATED, class: "violated" }), true)
        }
        Conclusion::UndecidedUpdates { .. } => {
            (page.chip(Word { message: &headings::UNDECIDED, class: "warned" }), false)
        }
        Conclusion::NoLostUpdates { .. }
        | Conclusion::NoLostCommits { .. }
        | Conclusion::NoAnomalies { .. } => {
            (page.chip(Word { message: &headings::INTACT, class: "intact" }), false)
        }
        Conclusion::GrowthCrossing { .. } | Conclusion::GrowthLead { .. } => {
            (page.chip(words::verdict(Some(Verdict::Better))), false)
        }
        Conclusion::PeakThroughput { .. }
        | Conclusion::Served { .. }
        | Conclusion::GrowthCourse { .. }
        | Conclusion::Looks { .. }
        | Conclusion::Found { .. }
        | Conclusion::AnomaliesAllowed { .. }
        | Conclusion::Fault { .. } => {
            (page.chip(Word { message: &page::PAGE_CHIP_FIGURE, class: "figure" }), false)
        }
        Conclusion::Limit { verdict, .. } => {
            (page.chip(words::limit(*verdict)), *verdict == LimitVerdict::Broken)
        }
        Conclusion::Question { question } => {
            (page.chip(words::verdict(page.model.questions[*question].effect.verdict)), false)
        }
        Conclusion::Comparison { verdict, .. } => (page.chip(words::verdict(*verdict)), false),
    };
    let (statement, reservations) = conclusion::parts(page.model, conclusion, page.lang);
    let number = reservations.len().to_string();
    html! {
        li {
            span { (chip) }
            div {
                span.alarm[is_alarming] { (unbroken(&statement)) }
                @if !reservations.is_empty() {
                    " " details.reservations.paper {
                        summary { (page.fill(&page::PAGE_RESERVATIONS, &[("number", &number)])) }
                        @for sentence in reservations { (unbroken(&sentence)) (page.lang.space) }
                    }
                }
            }
        }
    }
}
