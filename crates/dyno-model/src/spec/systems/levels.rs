//! Validation of factor levels that apply to systems.

use crate::plan::{SystemPlan, SystemSource};
use crate::spec::diagnostic::Problems;
use crate::spec::factors::{Factor, FactorTarget};
use crate::spec::reader::{unknown_system, unknown_word};
use crate::spec::system::check_query_mode;
use crate::target::QueryMode;

/// Levels of `system.query_mode` must be valid modes, and all systems must support them.
pub(in crate::spec) fn check_query_modes(
    factors: &[Factor],
    systems: &[SystemPlan],
    problems: &Problems,
) {
    let changes = factors.iter().flat_map(Factor::changes);
    for level in
        changes.filter(|change| change.target == FactorTarget::QueryMode).map(|change| &change.node)
    {
        let text = level.value.scalar_text().unwrap_or_default();
        match QueryMode::named(&text) {
            None => {
                let words = QueryMode::ALL.map(QueryMode::name);
                unknown_word(level.span, "system.query_mode", &text, &words, problems);
            }
            Some(mode) => {
                for system in systems {
                    check_query_mode(mode, system, level.span, problems);
                }
            }
        }
    }
}

/// Settings can only be varied for servers that dyno starts, and for systems in the file.
pub(in crate::spec) fn check_settings(
    factors: &[Factor],
    systems: &[SystemPlan],
    problems: &Problems,
) {
    for change in factors.iter().flat_map(Factor::changes) {
        let FactorTarget::Setting { system, .. } = &change.target else { continue };
        let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
        if let Some(name) = system.as_deref().filter(|name| !names.contains(name)) {
            unknown_system(change.key_span, name, &names, problems);
        }
        let is_meant = |plan: &&SystemPlan| system.as_ref().is_none_or(|name| *name == plan.name);
        let is_fixed = |plan: &&SystemPlan| match &plan.source {
            SystemSource::Existing(system) => {
                system.hooks.as_ref().is_none_or(|it| it.apply.is_none() && it.exclusive.is_none())
            }
            _ => false,
        };
        if let Some(plan) = systems.iter().filter(is_meant).find(is_fixed) {
            let message =
                format!("settings of `{}` cannot be varied: dyno does not start it", plan.name);
            let help = "add commands that apply them, \
                        `hooks = { apply = \"...\", restart = \"...\" }`, or let dyno start the \
                        server (`server = { kind = ... }`); or vary the settings of one system \
                        only: `\"system.NAME.server.settings.SETTING\"`";
            problems.refuse(change.key_span, message, help);
        }
    }
}
