//! Systems that commands of the user's steer: what they are called with, and what is put back at the end.

use dyno_host::guard::GuardCommand;
use dyno_host::steering::Steering;
use dyno_model::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Values that settings had before dyno changed them, by system.
#[derive(Debug, Default)]
pub(crate) struct Before(BTreeMap<usize, BTreeMap<String, String>>);

/// How a system is steered; `None` for one that is not.
pub(crate) fn steering<'p>(plan: &'p Plan, system: usize, logs: Option<&Path>) -> Option<Steering<'p>> {
    let (existing, steering) = plan.steering(system)?;
    let of = &plan.systems[system];
    Some(Steering {
        name: &of.name,
        system: existing,
        plan: steering,
        query_mode: of.query_mode,
        connect_timeout: of.connect_timeout.into(),
        guard: GuardCommand::this_program(),
        logs: logs.map(Path::to_owned),
    })
}

impl Before {
    /// Notes what settings have that a system's treatments vary, before the first of them is applied.
    ///
    /// # Errors
    /// When it does not tell.
    pub(crate) fn note(&mut self, plan: &Plan, system: usize) -> Result<(), String> {
        let Some(steering) = steering(plan, system, None) else { return Ok(()) };
        // One that is started anew each time keeps nothing.
        if self.0.contains_key(&system) || plan.takes_turns(system) {
            return Ok(());
        }
        let treatments = plan.treatments.iter().filter(|treatment| treatment.system == system);
        let names: BTreeSet<&str> =
            treatments.flat_map(|it| it.variation.settings.keys()).map(String::as_str).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let values = if names.is_empty() { Ok(BTreeMap::new()) } else { steering.values(&names) };
        self.0.insert(system, values.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Gives a system's settings the values that they had; says why that failed, when it does.
    pub(crate) fn put_back(&self, plan: &Plan, system: usize) -> Option<String> {
        let values = self.0.get(&system).filter(|values| !values.is_empty())?;
        let error = steering(plan, system, None)?.begin(values).err()?;
        let settings: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let name = &plan.systems[system].name;
        Some(format!("{name} did not get its settings back, which were {}: {error}", settings.join(", ")))
    }
}
