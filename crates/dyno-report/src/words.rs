//! Words for states, such as verdicts, audits and warnings, and the shapes of their chips in the
//! page.

use crate::messages::{Lang, Message, headings};
use dyno_analysis::model::{Effect, LimitVerdict, TrialState, Validity, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::warning::Severity;

/// A word for a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) message: &'static Message,
    /// CSS class of its chip; chips differ in symbol and shape as well as in colour.
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

/// A verdict; `None` if no test was possible.
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

/// The verdict on an effect; inconclusive results without a test are called that.
pub(crate) fn effect(effect: &Effect) -> Word {
    match effect.verdict {
        Some(Verdict::Inconclusive) if effect.p.is_none() && effect.bound.is_none() => NOT_TESTED,
        other => verdict(other),
    }
}

/// The word for a comparison without a test.
pub(crate) const NOT_TESTED: Word = word(&headings::VERDICT_NOT_TESTED, "none");

/// Whether a limit passed.
pub(crate) fn limit(verdict: LimitVerdict) -> Word {
    match verdict {
        LimitVerdict::Passed => word(&headings::HELD, "intact"),
        LimitVerdict::Undecided => word(&headings::UNDECIDED, "warned"),
        LimitVerdict::Failed => word(&headings::BROKEN, "violated"),
    }
}

/// Whether a configuration's figures are usable.
pub(crate) fn validity(validity: Validity) -> Word {
    state(match validity {
        Validity::Valid => TrialState::Valid,
        Validity::Warned => TrialState::Warned,
        Validity::Invalid => TrialState::Invalid,
        Validity::Missing => TrialState::Missing,
    })
}

/// The state of a trial.
pub(crate) fn state(state: TrialState) -> Word {
    match state {
        TrialState::Valid => word(&headings::VALID, "valid"),
        TrialState::Warned => word(&headings::WARNED, "warned"),
        TrialState::Invalid => word(&headings::INVALID, "invalid severe"),
        TrialState::Failed => word(&headings::FAILED_TRIAL, "failed"),
        TrialState::Missing => word(&headings::MISSING, "failed"),
    }
}

/// The severity of a warning.
pub(crate) fn severity(severity: Severity) -> Word {
    match severity {
        Severity::Note => word(&headings::NOTE, "remark"),
        Severity::Warning => word(&headings::WARNING, "warning"),
        Severity::Invalid => word(&headings::INVALID, "invalid severe"),
    }
}

/// The result of an audit.
pub(crate) fn audit(verdict: AuditVerdict) -> Word {
    match verdict {
        AuditVerdict::Intact => word(&headings::INTACT, "intact"),
        AuditVerdict::NotChecked => word(&headings::NOT_CHECKED, "unchecked"),
        AuditVerdict::Undecided => word(&headings::UNDECIDED, "warned"),
        AuditVerdict::Violated => word(&headings::VIOLATED, "violated"),
    }
}
