//! Cells, chips and names that several tables share.

use super::Page;
use crate::figures;
use crate::messages::{Message, conclusion, headings};
use dyno_analysis::model::{Estimate, Range, TreatmentRow, TrialState, Validity, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::finding::Severity;
use maud::{Markup, html};

/// A word in a frame, told apart by sign and shape as well as by colour.
pub(crate) fn chip(class: &str, word: &str) -> Markup {
    html! { span class={ "chip " (class) } { (word) } }
}

/// Class of a verdict, for chips and the forest plot.
pub(crate) fn verdict_class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Better) => "better",
        Some(Verdict::Worse) => "worse",
        Some(Verdict::Equivalent) => "equivalent",
        Some(Verdict::Inconclusive) => "inconclusive",
        Some(Verdict::Invalid) => "invalid",
        None => "none",
    }
}

/// A verdict in a word.
pub(super) fn verdict_word(verdict: Option<Verdict>) -> &'static Message {
    match verdict {
        Some(Verdict::Better) => &headings::VERDICT_BETTER,
        Some(Verdict::Worse) => &headings::VERDICT_WORSE,
        Some(Verdict::Equivalent) => &headings::VERDICT_EQUIVALENT,
        Some(Verdict::Inconclusive) => &headings::VERDICT_INCONCLUSIVE,
        Some(Verdict::Invalid) => &headings::VERDICT_INVALID,
        None => &headings::VERDICT_NONE,
    }
}

pub(super) fn verdict_chip(page: &Page<'_>, verdict: Option<Verdict>) -> Markup {
    chip(verdict_class(verdict), page.text(verdict_word(verdict)))
}

pub(super) fn validity_chip(page: &Page<'_>, validity: Validity) -> Markup {
    match validity {
        Validity::Valid => chip("valid", page.text(&headings::VALID)),
        Validity::Warned => chip("warned", page.text(&headings::WARNED)),
        Validity::Invalid => chip("invalid severe", page.text(&headings::INVALID)),
        Validity::Missing => chip("failed", page.text(&headings::MISSING)),
    }
}

pub(super) fn state_chip(page: &Page<'_>, state: TrialState) -> Markup {
    match state {
        TrialState::Valid => chip("valid", page.text(&headings::VALID)),
        TrialState::Warned => chip("warned", page.text(&headings::WARNED)),
        TrialState::Invalid => chip("invalid severe", page.text(&headings::INVALID)),
        TrialState::Failed => chip("failed", page.text(&headings::FAILED_TRIAL)),
        TrialState::Missing => chip("failed", page.text(&headings::MISSING)),
    }
}

pub(super) fn severity_chip(page: &Page<'_>, severity: Severity) -> Markup {
    let word = match severity {
        Severity::Note => &headings::NOTE,
        Severity::Warning => &headings::WARNING,
        Severity::Invalid => &headings::SEVERITY_INVALID,
    };
    chip(severity_class(severity), page.text(word))
}

/// Class of a severity, for chips.
pub(crate) fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "remark",
        Severity::Warning => "warning",
        Severity::Invalid => "invalid severe",
    }
}

pub(super) fn audit_chip(page: &Page<'_>, verdict: AuditVerdict) -> Markup {
    match verdict {
        AuditVerdict::Intact => chip("intact", page.text(&headings::INTACT)),
        AuditVerdict::NotChecked => chip("unchecked", page.text(&headings::NOT_CHECKED)),
        AuditVerdict::Undecided => chip("warned", page.text(&headings::UNDECIDED)),
        AuditVerdict::Violated => chip("violated", page.text(&headings::VIOLATED)),
    }
}

/// `5,123 ± 122`, or a dash.
pub(super) fn estimate(page: &Page<'_>, estimate: Option<&Estimate>) -> Markup {
    let Some(estimate) = estimate else { return html! { (page.text(&headings::ABSENT)) } };
    html! {
        (figures::mean(estimate))
        @if let Some(half) = figures::half_width(estimate) { span.pm { " ± " (half) } }
    }
}

/// The same of a treatment, with the number of trials that it rests on when that is not all of the valid ones.
pub(super) fn estimate_of(page: &Page<'_>, row: &TreatmentRow, of: Option<&Estimate>) -> Markup {
    html! {
        (estimate(page, of))
        @if let Some(of) = of.filter(|of| of.repeats != row.trials_valid) { span.pm { " (n = " (of.repeats) ")" } }
    }
}

/// A figure, or a dash.
pub(super) fn optional(page: &Page<'_>, value: Option<f64>) -> String {
    value.map_or_else(|| page.text(&headings::ABSENT).to_owned(), figures::digits)
}

/// A number of things, or a dash.
pub(super) fn number(page: &Page<'_>, value: Option<u64>) -> String {
    value.map_or_else(|| page.text(&headings::ABSENT).to_owned(), figures::count)
}

/// `1.18 to 1.29` as `1.18 – 1.29`, or a dash.
pub(super) fn range(page: &Page<'_>, range: Option<Range>) -> String {
    range.map_or_else(
        || page.text(&headings::ABSENT).to_owned(),
        |range| format!("{} – {}", figures::ratio(range.low), figures::ratio(range.high)),
    )
}

/// A treatment in words: `MySQL (for-update), 20 clients`.
pub(super) fn treatment_name(page: &Page<'_>, treatment: usize) -> String {
    let row = &page.model.treatments[treatment];
    let clients = conclusion::clients(&[row.clients], page.lang);
    format!("{}, {clients}", page.model.lines[row.line].label)
}

/// Class of a cell that holds something alarming.
pub(super) fn alarm_if(is_alarming: bool) -> Option<&'static str> {
    is_alarming.then_some("alarm")
}
