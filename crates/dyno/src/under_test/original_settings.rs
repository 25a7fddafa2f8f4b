//! Systems controlled by lifecycle hooks: the environment of the hooks, and the settings to restore
//! at the end.

use dyno_host::HostError;
use dyno_host::hooks::{LifecycleHooks, Restoration};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::event::{Event, Listener};
use dyno_model::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Settings = BTreeMap<String, String>;

/// The settings of systems as they were before dyno changed them.
#[derive(Default)]
pub(crate) struct Originals {
    /// Settings that an earlier part of the run recorded and did not restore, by system name.
    stored: BTreeMap<String, Settings>,
    restorations: BTreeMap<usize, Restoration>,
}

/// The lifecycle hooks of a system; `None` if it has none.
pub(crate) fn hooks<'p>(
    plan: &'p Plan,
    system: usize,
    logs: Option<&Path>,
) -> Option<LifecycleHooks<'p>> {
    let (existing, hooks) = plan.hooks(system)?;
    let of = &plan.systems[system];
    Some(LifecycleHooks {
        name: &of.name,
        system: existing,
        plan: hooks,
        query_mode: of.query_mode,
        connect_timeout: of.connect_timeout.into(),
        supervisor: SupervisorCommand::this_program(),
        logs: logs.map(Path::to_owned),
    })
}

impl Originals {
    /// `stored` are the settings that an earlier part of the run changed and did not restore.
    pub(crate) fn new(stored: BTreeMap<String, Settings>) -> Self {
        Self { stored, restorations: BTreeMap::new() }
    }

    /// Records the settings of a system that its configurations vary, and schedules their
    /// restoration, before the first change. Settings recorded by an earlier part of the run take
    /// precedence: the present ones may be leftovers of that part.
    ///
    /// # Errors
    /// When the system does not report its settings.
    pub(crate) fn note(
        &mut self,
        plan: &Plan,
        system: usize,
        logs: Option<&Path>,
        listener: &mut dyn Listener,
    ) -> Result<(), HostError> {
        let Some(hooks) = hooks(plan, system, logs) else { return Ok(()) };
        // A system that is started for each restart group keeps no settings.
        if self.restorations.contains_key(&system) || plan.is_exclusive(system) {
            return Ok(());
        }
        let configurations =
            plan.configurations.iter().filter(|configuration| configuration.system == system);
        let names: BTreeSet<&str> = configurations
            .flat_map(|it| it.variation.settings.keys())
            .map(String::as_str)
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = &plan.systems[system].name;
        let settings = match self.stored.remove(name) {
            Some(stored) => stored,
            None => {
                let names: Vec<&str> = names.into_iter().collect();
                hooks.values(&names)?
            }
        };
        listener.event(&Event::SettingsNoted { system: name.clone(), settings: settings.clone() });
        let restoration = hooks.promise(settings)?;
        self.restorations.insert(system, restoration);
        Ok(())
    }

    /// The restoration of a system's settings, which also runs the system's commands.
    pub(crate) fn restoration(&mut self, system: usize) -> Option<&mut Restoration> {
        self.restorations.get_mut(&system)
    }

    /// Restores the original settings of all systems; reports systems where this may have failed.
    pub(crate) fn restore(
        &mut self,
        plan: &Plan,
        logs: Option<&Path>,
        listener: &mut dyn Listener,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for (system, restoration) in std::mem::take(&mut self.restorations) {
            let Some(hooks) = hooks(plan, system, logs) else { continue };
            match hooks.restore(restoration) {
                Ok(settings) => {
                    let system = hooks.name.to_owned();
                    listener.event(&Event::SettingsRestored { system, settings });
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems
    }
}
