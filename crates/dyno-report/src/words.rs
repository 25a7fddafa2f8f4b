//! Words for states: what a verdict, an audit or a doubt is called, and the shape of its chip in
//! the page.

use crate::messages::{Lang, Message, headings};
use dyno_analysis::model::{LimitVerdict, TrialState, Validity, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::warning::Severity;

/// A word that stands for a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) message: &'static Message,
    /// Class of its chip: told apart by sign and shape as well as by colour.
    pub(crate) class: &'static str,
}

impl Word {
    pub(crate) fn text(&self, lang: Lang) -> &'static str {
        self.message.text(lang)
    }
}

pub(crate) const fn word(message: &'static Message, class: &'static str) -> Word {
    Word { message, class }
}

/// A verdict; `None` where none was allowed.
pub(crate) fn verdict(verdict: Option<Verdict>) -> Word {
    match verdict {
        Some(Verdict::Better) => word(&headings::VERDICT_BETTER, "better"),
        Some(Verdict::Worse) => word(&headings::VERDICT_WORSE, "worse"),
        Some(Verdict::Equivalent) => word(&headings::VERDICT_EQUIVALENT, "equivalent"),
        Some(Verdict::Inconclusive) => word(&headings::VERDICT_INCONCLUSIVE, "inconclusive"),
        Some(Verdict::Invalid) => word(&headings::INVALID, "invalid"),
        None => word(&headings::VERDICT_NONE, "none"),
    }
}

/// Whether a limit was kept.
pub(crate) fn limit(verdict: LimitVerdict) -> Word {
    match verdict {
        LimitVerdict::Passed => word(&headings::HELD, "intact"),
        LimitVerdict::Undecided => word(&headings::UNDECIDED, "warned"),
        LimitVerdict::Failed => word(&headings::BROKEN, "violated"),
    }
}

/// Whether a configuration's figures may be used.
pub(crate) fn validity(validity: Validity) -> Word {
    state(match validity {
        Validity::Valid => TrialState::Valid,
        Validity::Warned => TrialState::Warned,
        Validity::Invalid => TrialState::Invalid,
        Validity::Missing => TrialState::Missing,
    })
}

/// What became of a trial.
pub(crate) fn state(state: TrialState) -> Word {
    match state {
        TrialState::Valid => word(&headings::VALID, "valid"),
        TrialState::Warned => word(&headings::WARNED, "warned"),
        TrialState::Invalid => word(&headings::INVALID, "invalid severe"),
        TrialState::Failed => word(&headings::FAILED_TRIAL, "failed"),
        TrialState::Missing => word(&headings::MISSING, "failed"),
    }
}

/// The weight of a doubt.
pub(crate) fn severity(severity: Severity) -> Word {
    match severity {
        Severity::Note => word(&headings::NOTE, "remark"),
        Severity::Warning => word(&headings::WARNING, "warning"),
        Severity::Invalid => word(&headings::INVALID, "invalid severe"),
    }
}

/// What an audit said.
pub(crate) fn audit(verdict: AuditVerdict) -> Word {
    match verdict {
        AuditVerdict::Intact => word(&headings::INTACT, "intact"),
        AuditVerdict::NotChecked => word(&headings::NOT_CHECKED, "unchecked"),
        AuditVerdict::Undecided => word(&headings::UNDECIDED, "warned"),
        AuditVerdict::Violated => word(&headings::VIOLATED, "violated"),
    }
}
