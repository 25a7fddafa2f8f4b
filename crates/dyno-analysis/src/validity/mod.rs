//! Which trials can be used: eligibility, steady state, warnings.

pub(super) mod eligibility;
pub(super) mod judgement;
pub(super) mod shortage;
pub(super) mod steadiness;
