//! The top of the page, one screen: title, the first chart, and at most three sentences about the
//! figures. Their uncertainty, their basis and what would change them appear with the warnings.

use super::page::{ChartFigure, Page};
use crate::figures;
use crate::grid::unbroken;
use crate::messages::{conclusion, fill, headings, names, notes, page};
use crate::notes::origin;
use crate::words;
use dyno_analysis::model::{Conclusion, LimitVerdict, TrialState, Verdict};
use dyno_model::audit::AuditVerdict;
use maud::{Markup, html};

/// Maximum number of sentences on the first screen.
const SENTENCES: usize = 3;
/// Maximum number of blocks that a report recommends for the observed variance.
const BLOCKS_MAX: u32 = 50;

/// Title, description, provenance, and missing data.
pub(super) fn header(page: &Page<'_>) -> Markup {
    let model = page.model;
    let description = model.description.trim();
    let (first, rest) =
        description.find(". ").map_or((description, ""), |at| description.split_at(at + 1));
    html! {
        header {
            h1 { (model.title) }
            p.provenance { (unbroken(&origin(model, page.lang).join(page.lang.space))) }
            @if rest.is_empty() { p { (first) } } @else { details.about.paper { summary { (first) } p { (rest) } } }
            @if !model.completeness.has_ended { p.alarm { (page.text(&notes::NOTE_NO_END)) } }
            @for what in &model.completeness.unreadable {
                p.alarm { (names::unreadable_note(what, page.lang)) }
            }
        }
    }
}

/// The first chart, with the conclusions next to it.
pub(super) fn conclusions(page: &Page<'_>, figure: Option<&ChartFigure>) -> Markup {
    let (shown, rest) = shown(page);
    let more = fill!(page::PAGE_MORE_CONCLUSIONS, page.lang, number = rest.len());
    html! {
        section #conclusions {
            div.answer {
                @if let Some(figure) = figure { div.first { (figure.heading_markup(page)) } }
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
            }
        }
    }
}

/// Uncertainty of the answers, their basis, and what would change them.
pub(super) fn trust(page: &Page<'_>) -> Markup {
    html! {
        dl.facts {
            div { dt { (page.text(&page::PAGE_SURE)) } dd { (unbroken(&sure(page))) } }
            div { dt { (page.text(&page::PAGE_RESTS_ON)) } dd { (rests_on(page)) } }
            div { dt { (page.text(&page::PAGE_CHANGE)) } dd { (unbroken(&change(page))) } }
        }
    }
}

/// Splits conclusions into those on the first screen and the collapsed ones: the first of each
/// kind, and pairs and peaks only if there are no questions. The others have rows in tables:
/// questions and limits.
fn shown<'a>(page: &Page<'a>) -> (Vec<&'a Conclusion>, Vec<&'a Conclusion>) {
    let all = &page.model.conclusions;
    let has_losses = all.iter().any(|it| matches!(it, Conclusion::LostUpdates { .. }));
    let most = |conclusion: &Conclusion| match conclusion {
        it if page.model.is_beside_answers(it) => 0,
        Conclusion::NoLostUpdates { .. } if has_losses => 0,
        Conclusion::LostUpdates { .. } => 1,
        // For questions without an answer, the chart and the table are more informative.
        Conclusion::Question { question } => match page.model.questions[*question].effect.verdict {
            Some(verdict) if verdict.is_decided() => 2,
            _ => 1,
        },
        _ => SENTENCES,
    };
    let kind = std::mem::discriminant::<Conclusion>;
    let is_among_first = |at: usize| {
        all[..at].iter().filter(|before| kind(before) == kind(&all[at])).count() < most(&all[at])
    };
    let mut first: Vec<usize> = (0..all.len()).filter(|at| is_among_first(*at)).collect();
    first.truncate(SENTENCES);
    let has_row =
        |it: &Conclusion| matches!(it, Conclusion::Question { .. } | Conclusion::Limit { .. });
    let rest = (0..all.len()).filter(|at| !first.contains(at) && !has_row(&all[*at]));
    (first.iter().map(|at| &all[*at]).collect(), rest.map(|at| &all[at]).collect())
}

fn sure(page: &Page<'_>) -> String {
    let model = page.model;
    let rules = &model.comparison_rules;
    let verdicts = model.verdicts();
    let decided = verdicts.iter().filter(|verdict| verdict.is_decided()).count();
    let alpha = figures::limit(rules.alpha * 100.0);
    if model.completeness.valid == 0 {
        page.text(&page::PAGE_SURE_NO_TRIALS).to_owned()
    } else if model.comparisons.is_empty() {
        page.text(&page::PAGE_SURE_NOTHING).to_owned()
    } else if !rules.verdicts_enabled {
        fill!(page::PAGE_SURE_NO_VERDICTS, page.lang, needed = rules.min_repeats)
    } else {
        let metric = names::metric(model.primary_metric, page.lang);
        let questions = verdicts.len();
        fill!(page::PAGE_SURE_QUESTIONS, page.lang, decided, questions, alpha, metric)
    }
}

fn rests_on(page: &Page<'_>) -> Markup {
    let model = page.model;
    let (valid, planned) = (model.completeness.valid, model.completeness.planned);
    let audits = || model.audits.iter().filter(|audit| audit.verdict != AuditVerdict::NotChecked);
    let violated = audits().filter(|audit| audit.verdict == AuditVerdict::Violated).count();
    let checked = audits().count();
    let message = match (checked, violated) {
        (0, _) => &page::PAGE_RESTS_UNCHECKED,
        (_, 0) => &page::PAGE_RESTS_INTACT,
        _ => &page::PAGE_RESTS_VIOLATED,
    };
    let trials: u32 =
        model.configurations.iter().filter_map(|row| row.not_working).map(|it| it.trials).sum();
    html! {
        (fill!(page::PAGE_RESTS_TRIALS, page.lang, valid, planned, blocks = model.provenance.blocks)) (page.lang.space)
        @if trials > 0 {
            (fill!(page::PAGE_RESTS_NOT_WORKING, page.lang, trials)) (page.lang.space)
        }
        (page.text(&notes::NOTE_WORDS)) (page.lang.space)
        span.alarm[violated > 0] { (fill!(message, page.lang, checked, violated)) }
    }
}

fn change(page: &Page<'_>) -> String {
    let model = page.model;
    let rules = &model.comparison_rules;
    let (margin, now) = (figures::limit(rules.margin * 100.0), model.provenance.blocks);
    if model.completeness.valid == 0 {
        return page.text(&page::PAGE_CHANGE_CAUSES).to_owned();
    }
    if !rules.verdicts_enabled && !model.comparisons.is_empty() {
        return fill!(page::PAGE_CHANGE_ENABLE, page.lang, needed = rules.min_repeats);
    }
    let Some(blocks) = model.blocks_to_decide() else {
        return page.text(&page::PAGE_CHANGE_SETTING).to_owned();
    };
    let message =
        if blocks > BLOCKS_MAX { &page::PAGE_CHANGE_SCATTER } else { &page::PAGE_CHANGE_BLOCKS };
    let blocks = figures::about(blocks.into());
    fill!(message, page.lang, blocks, now, margin)
}

/// The verdict on a claim that holds for some, is contradicted for some, or both.
fn claimed(holds: bool, is_contradicted: bool) -> Verdict {
    match (holds, is_contradicted) {
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        _ => Verdict::Inconclusive,
    }
}

fn item(page: &Page<'_>, conclusion: &Conclusion) -> Markup {
    let word = match conclusion {
        Conclusion::Claim { is_judged: false, .. }
        | Conclusion::VerdictsDisabled { .. }
        | Conclusion::Comparison { verdict: None, .. } => {
            words::word(&page::PAGE_CHIP_NO_VERDICT, "none")
        }
        Conclusion::Claim { holds, contradicted, .. } => words::verdict(Some(claimed(
            !holds.clients.is_empty(),
            !contradicted.clients.is_empty(),
        ))),
        Conclusion::Incomplete { .. } => words::word(&page::PAGE_CHIP_INCOMPLETE, "warned"),
        Conclusion::DidNotWork { .. } => words::word(&page::PAGE_CHIP_NOT_WORKING, "failed severe"),
        Conclusion::InvalidTrials { .. } => words::state(TrialState::Invalid),
        Conclusion::LostUpdates { .. } | Conclusion::LostCommits { .. } => {
            words::word(&page::PAGE_CHIP_LOST, "violated")
        }
        Conclusion::AuditViolated { .. } | Conclusion::Anomalies { .. } => {
            words::audit(AuditVerdict::Violated)
        }
        Conclusion::UndecidedUpdates { .. } => words::audit(AuditVerdict::Undecided),
        Conclusion::NoLostUpdates { .. }
        | Conclusion::NoLostCommits { .. }
        | Conclusion::DataIntact { .. }
        | Conclusion::NoAnomalies { .. } => words::audit(AuditVerdict::Intact),
        Conclusion::GrowthCrossing { .. } | Conclusion::GrowthLead { .. } => {
            words::verdict(Some(Verdict::Better))
        }
        Conclusion::PeakThroughput { .. }
        | Conclusion::Served { .. }
        | Conclusion::GrowthSteps { .. }
        | Conclusion::InterimAnalyses { .. }
        | Conclusion::Found { .. }
        | Conclusion::AnomaliesAllowed { .. }
        | Conclusion::Fault { .. } => words::word(&page::PAGE_CHIP_FIGURE, "figure"),
        Conclusion::Limit { verdict, .. } => words::limit(*verdict),
        Conclusion::Question { question } => words::effect(&page.model.questions[*question].effect),
        Conclusion::Comparison {
            is_question_unanswered: true,
            verdict: Some(Verdict::Inconclusive),
            ..
        } => words::NOT_TESTED,
        Conclusion::Comparison { verdict, .. } => words::verdict(*verdict),
    };
    let is_alarming = matches!(
        conclusion,
        Conclusion::Incomplete { .. }
            | Conclusion::DidNotWork { .. }
            | Conclusion::InvalidTrials { .. }
            | Conclusion::LostUpdates { .. }
            | Conclusion::LostCommits { .. }
            | Conclusion::AuditViolated { .. }
            | Conclusion::Anomalies { .. }
            | Conclusion::Limit { verdict: LimitVerdict::Failed, .. }
    );
    let (statement, reservations) = conclusion::parts(page.model, conclusion, page.lang);
    let number = reservations.len();
    html! {
        li {
            span { (page.chip(word)) }
            div {
                span.alarm[is_alarming] { (unbroken(&statement)) }
                @if !reservations.is_empty() {
                    " " details.reservations.paper {
                        summary { (fill!(page::PAGE_RESERVATIONS, page.lang, number)) }
                        @for sentence in reservations { (unbroken(&sentence)) (page.lang.space) }
                    }
                }
            }
        }
    }
}
