//! Selection of the configurations to compare: each system with the first one at equal clients and
//! levels, and each level of a factor within a system with the first measured level, other levels
//! equal. If the spec lists comparisons, only those.

use crate::model::ComparisonOf;
use crate::view::View;
use dyno_model::plan::{Compare, Configuration};

/// Two compared configurations.
pub(crate) struct Pair {
    pub(crate) of: ComparisonOf,
    /// The configuration to judge.
    pub(crate) subject: usize,
    /// The configuration that it is judged against.
    pub(crate) baseline: usize,
}

pub(crate) fn pairs(view: &View<'_>) -> Vec<Pair> {
    let plan = view.plan();
    let find =
        |wanted: &dyn Fn(&Configuration) -> bool| plan.configurations.iter().position(wanted);
    let is_compared = |compare: Compare| plan.compare.is_none_or(|chosen| chosen == compare);
    let mut pairs = Vec::new();
    let systems = view
        .configurations()
        .filter(|(_, configuration)| configuration.system > 0 && is_compared(Compare::System));
    for (subject, configuration) in systems {
        let baseline = find(&|other| {
            other.system == 0
                && other.clients == configuration.clients
                && other.levels == configuration.levels
        });
        pairs.extend(baseline.map(|baseline| Pair { of: ComparisonOf::System, subject, baseline }));
    }
    for factor in (0..plan.factors.len()).filter(|&factor| is_compared(Compare::Factor(factor))) {
        for (subject, configuration) in view.configurations() {
            // The first level that is not excluded. A level may be excluded because it makes no
            // sense together with the other levels.
            let baseline = find(&|other| {
                let mut levels = other.levels.iter().zip(&configuration.levels).enumerate();
                other.system == configuration.system
                    && other.clients == configuration.clients
                    && levels.all(|(position, (one, another))| position == factor || one == another)
            });
            let baseline = baseline.filter(|baseline| *baseline != subject);
            pairs.extend(baseline.map(|baseline| Pair {
                of: ComparisonOf::Level { factor },
                subject,
                baseline,
            }));
        }
    }
    pairs
}
