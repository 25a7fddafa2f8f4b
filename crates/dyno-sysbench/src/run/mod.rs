//! Commands carried out: scripts in Lua states, and the run itself.
//!
//! * [`environment`]: from options to what states need; [`commands`]: everything but `run`;
//! * [`bundled`]: bundled scripts on native workloads, with [`failures`] in sysbench's words;
//! * [`measure`]: `run`, with [`load`] (load rules), [`scripts`] (the script on the engine),
//!   [`reporter`] (from intervals to figures), [`printing`] (the thread that prints them) and
//!   [`results`] (the results folder).

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
use crate::options::{OptionError, Options};
use dyno_lua::{Environment, OptionValue, Role, ScriptError, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How to make states of one script; every thread has one of its own.
pub(crate) struct Recipe {
    /// The same for all states.
    pub(crate) environment: Arc<Environment>,
    /// The script's options; `None` when it declares none.
    pub(crate) definitions: Option<Vec<Definition>>,
    pub(crate) values: BTreeMap<String, OptionValue>,
    /// Names of those that are global variables as well: a script that declares no options knows
    /// them so.
    pub(crate) globals: Vec<String>,
    /// What states have read of the options, where somebody wants to know; inside `None` when that
    /// may be all.
    read: Option<Mutex<Option<BTreeSet<String>>>>,
}

impl Recipe {
    /// A state of the script, on this thread, with its options. Scripts that declare none see them
    /// as globals, too.
    ///
    /// # Errors
    /// What the script's top level raised.
    pub(crate) fn load(&self, role: Role) -> Result<State, ScriptError> {
        let state = State::load(&self.environment, role)?;
        state.set_options(&self.values, &self.globals)?;
        if self.read.is_some() {
            state.watch_options()?;
        }
        Ok(state)
    }

    /// Notes what a state has read of the options.
    pub(crate) fn note(&self, state: &State) {
        let Some(read) = &self.read else { return };
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = read.take().zip(state.options_read()).map(|(mut all, read)| {
            all.extend(read);
            all
        });
    }
}

/// A script whose top level has run, which tells its options; they have no values yet.
pub(crate) struct Opened {
    pub(crate) main: State,
    environment: Arc<Environment>,
    pub(crate) definitions: Option<Vec<Definition>>,
}

/// Why a script cannot be used.
pub(crate) enum Unusable {
    Script(ScriptError),
    /// What it declares, or what was given.
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

    /// Takes the script's options out of what was given.
    ///
    /// # Errors
    /// When a value is none of its option's, or there is no such option.
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

/// A script with its main state: commands, `init`, `done`, the last report.
pub(crate) struct LoadedScript {
    pub(crate) main: State,
    /// How to make others.
    pub(crate) recipe: Arc<Recipe>,
}

impl LoadedScript {
    /// Has it noted which options its states read from here on. Scripts that declare none may read
    /// them in other ways.
    ///
    /// # Errors
    /// When Lua is out of memory.
    pub(crate) fn watch(&mut self) -> Result<(), ScriptError> {
        let Some(recipe) = Arc::get_mut(&mut self.recipe) else { return Ok(()) };
        recipe.read = Some(Mutex::new(recipe.definitions.is_some().then(BTreeSet::new)));
        self.main.watch_options()
    }

    /// The options that were read; `None` when these may be all.
    pub(crate) fn read(&self) -> Option<BTreeSet<String>> {
        self.recipe.note(&self.main);
        let read = self.recipe.read.as_ref()?;
        read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
