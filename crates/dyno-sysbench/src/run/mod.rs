//! Commands carried out: scripts in Lua states, and the run itself.
//!
//! * [`environment`]: from options to what states need; [`commands`]: everything but `run`;
//! * [`bundled`]: bundled scripts on native workloads, with [`failures`] in sysbench's words;
//! * [`measure`]: `run`, with [`load`] (load rules), [`scripts`] (the script on the engine), [`reporter`] (from intervals
//!   to figures), [`printing`] (the thread that prints them) and [`results`] (the results folder).

pub(crate) mod bundled;
pub(crate) mod commands;
pub(crate) mod environment;
pub(crate) mod failures;
pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod printing;
pub(crate) mod reporter;
pub(crate) mod results;
pub(crate) mod scripts;

use crate::options::definition::Definition;
use dyno_lua::{Environment, OptionValue, Role, ScriptError, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How to make states of one script; every thread has one of its own.
pub(crate) struct Recipe {
    /// The same for all states.
    pub(crate) environment: Arc<Environment>,
    /// The script's options; `None` when it declares none.
    pub(crate) definitions: Option<Vec<Definition>>,
    pub(crate) values: BTreeMap<String, OptionValue>,
    /// Names of those that are global variables as well: a script that declares no options knows them so.
    pub(crate) globals: Vec<String>,
}

impl Recipe {
    /// A state of the script, on this thread, with its options. Scripts that declare none see them as globals, too.
    ///
    /// # Errors
    /// What the script's top level raised.
    pub(crate) fn load(&self, role: Role) -> Result<State, ScriptError> {
        let state = State::load(&self.environment, role)?;
        state.set_options(&self.values, &self.globals)?;
        Ok(state)
    }
}

/// A script with its main state: commands, `init`, `done`, the last report.
pub(crate) struct LoadedScript {
    pub(crate) main: State,
    /// How to make others.
    pub(crate) recipe: Arc<Recipe>,
}
