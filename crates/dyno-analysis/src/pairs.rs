//! Who is compared with whom: each system with the first one at equal clients and levels, each
//! level of a factor within a system with the first one that was measured with it, other levels
//! equal; where the spec says what is compared, only that.

use crate::model::ComparisonOf;
use crate::view::View;
use dyno_model::plan::{Compare, Configuration};

/// Two configurations that are compared.
pub(crate) struct Pair {
    pub(crate) of: ComparisonOf,
    /// Configuration that is judged.
    pub(crate) subject: usize,
    /// Configuration it is judged against.
    pub(crate) baseline: usize,
}

pub(crate) fn pairs(view: &View<'_>) -> Vec<Pair> {
    let plan = view.plan();
    let find =
        |wanted: &dyn Fn(&Configuration) -> bool| plan.configurations.iter().position(wanted);
    let is_asked = |compare: Compare| plan.compare.is_none_or(|asked| asked == compare);
    let mut pairs = Vec::new();
    let systems = view
        .configurations()
        .filter(|(_, configuration)| configuration.system > 0 && is_asked(Compare::System));
    for (subject, configuration) in systems {
        let baseline = find(&|other| {
            other.system == 0
                && other.clients == configuration.clients
                && other.levels == configuration.levels
        });
        pairs.extend(baseline.map(|baseline| Pair { of: ComparisonOf::System, subject, baseline }));
    }
    for factor in (0..plan.factors.len()).filter(|&factor| is_asked(Compare::Factor(factor))) {
        for (subject, configuration) in view.configurations() {
            // The first level, or where that is excluded (it may make no sense with the other
            // levels) the first that is not.
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
