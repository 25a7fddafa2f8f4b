//! Execution of commands: scripts in Lua states, and the run itself.
//!
//! * [`environment`]: converts options for states; [`commands`]: everything except `run`;
//! * [`bundled`]: bundled scripts with native workloads, with [`failures`] in sysbench's words;
//! * [`distributed`]: threads that are those of generators;
//! * [`measure`]: `run`, with [`load`] (load plan), [`scripts`] (the script on the engine),
//!   [`reporter`] (from intervals to figures), [`printing`] (the printing thread) and [`results`]
//!   (the results folder).

pub(crate) mod bundled;
pub(crate) mod commands;
pub(crate) mod distributed;
pub(crate) mod environment;
pub(crate) mod failures;
pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod printing;
pub(crate) mod reporter;
pub(crate) mod results;
pub(crate) mod scripts;

use crate::options::definition::Definition;
use crate::options::{OptionError, Options};
use dyno_lua::{Environment, OptionValue, Role, ScriptError, State};
use dyno_model::sync::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Creates states of one script; every thread has its own.
pub(crate) struct Recipe {
    /// Shared by all states.
    pub(crate) environment: Arc<Environment>,
    /// The script's options; `None` when it declares none.
    pub(crate) definitions: Option<Vec<Definition>>,
    pub(crate) values: BTreeMap<String, OptionValue>,
    /// Names of those that are also global variables: a script that declares no options finds them
    /// there.
    pub(crate) globals: Vec<String>,
    /// The options that states have read, if recorded; `None` inside when they may have read all.
    read: Option<Mutex<Option<BTreeSet<String>>>>,
}

impl Recipe {
    /// A state of the script on this thread, with its options. Scripts that declare none also see
    /// them as globals.
    ///
    /// # Errors
    /// The error raised by the script's top level.
    pub(crate) fn load(&self, role: Role) -> Result<State, ScriptError> {
        let state = State::load(&self.environment, role)?;
        state.set_options(&self.values, &self.globals)?;
        if self.read.is_some() {
            state.watch_options()?;
        }
        Ok(state)
    }

    /// Records the options that a state has read.
    pub(crate) fn note(&self, state: &State) {
        let Some(read) = &self.read else { return };
        let mut read = lock(read);
        *read = read.take().zip(state.options_read()).map(|(mut all, read)| {
            all.extend(read);
            all
        });
    }
}

/// A script whose top level has run, which declares its options; they have no values yet.
pub(crate) struct Opened {
    pub(crate) main: State,
    environment: Arc<Environment>,
    pub(crate) definitions: Option<Vec<Definition>>,
}

/// Why a script is unusable.
pub(crate) enum Unusable {
    Script(ScriptError),
    /// An error in its declarations, or in the given options.
    Options(OptionError),
}

impl Opened {
    /// # Errors
    /// When the script cannot be loaded, or declares options that are none.
    pub(crate) fn new(environment: Environment) -> Result<Self, Unusable> {
        let environment = Arc::new(environment);
        let main = State::load(&environment, Role::Main).map_err(Unusable::Script)?;
        let declared = main.declared_options().map_err(Unusable::Script)?;
        let definitions = declared.map(|all| all.iter().map(environment::definition).collect());
        let definitions = definitions.transpose().map_err(Unusable::Options)?;
        Ok(Self { main, environment, definitions })
    }

    /// Assigns the script's options from the given ones.
    ///
    /// # Errors
    /// When a value does not have its option's type, or the option does not exist.
    pub(crate) fn take(&self, options: &mut Options) -> Result<(), Unusable> {
        let taken = match &self.definitions {
            None => options.accept_all(),
            Some(definitions) => options.declare(definitions),
        };
        taken.map_err(Unusable::Options)
    }

    /// The script with the values of its options.
    ///
    /// # Errors
    /// When Lua is out of memory.
    pub(crate) fn loaded(self, options: &Options) -> Result<LoadedScript, ScriptError> {
        let Self { main, environment, definitions } = self;
        let values = options.for_script();
        let globals = if definitions.is_none() { options.globals() } else { Vec::new() };
        main.set_options(&values, &globals)?;
        let recipe = Recipe { environment, definitions, values, globals, read: None };
        Ok(LoadedScript { main, recipe: Arc::new(recipe) })
    }
}

/// A script with its main state, for commands, `init`, `done`, and the last report.
pub(crate) struct LoadedScript {
    pub(crate) main: State,
    /// Creates other states.
    pub(crate) recipe: Arc<Recipe>,
}

impl LoadedScript {
    /// Starts recording which options its states read. Scripts that declare none may read them in
    /// other ways.
    ///
    /// # Errors
    /// When Lua is out of memory.
    pub(crate) fn watch(&mut self) -> Result<(), ScriptError> {
        let Some(recipe) = Arc::get_mut(&mut self.recipe) else { return Ok(()) };
        recipe.read = Some(Mutex::new(recipe.definitions.is_some().then(BTreeSet::new)));
        self.main.watch_options()
    }

    /// The options that were read; `None` when it may be all of them.
    pub(crate) fn read(&self) -> Option<BTreeSet<String>> {
        self.recipe.note(&self.main);
        let read = self.recipe.read.as_ref()?;
        lock(read).clone()
    }
}
