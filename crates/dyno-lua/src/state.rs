//! One Lua state with sysbench's API, seen from outside.

use crate::environment::Environment;
use crate::error::{ErrorKind, ScriptError};
use crate::meter::Meter;
use crate::options::{DeclaredOption, OptionValue};
use crate::report::{Report, ReportHooks, ReportStat};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a state is for; decides `sysbench.tid` and the stream of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Commands, `init`, `done`.
    Main,
    /// A worker thread, from 0.
    Thread(u32),
    /// Reports of a script's own.
    Reporter,
}

/// A custom command of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Runs once in each worker thread instead of once in the main state.
    pub is_parallel: bool,
}

/// Ends what a state's connections are waiting for, from another thread.
#[derive(Clone)]
pub struct Interrupter(Arc<std::sync::atomic::AtomicBool>);

impl Interrupter {
    /// The statement in progress fails, and every later one too: the state's connections are given up.
    pub fn interrupt(&self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// One Lua state. It lives on the thread that loaded it.
pub struct State {
    lua: mlua::Lua,
    environment: Arc<Environment>,
}

type Result<T> = std::result::Result<T, ScriptError>;

impl State {
    /// Makes a state: libraries, API, then the script's top level.
    ///
    /// # Errors
    /// When the script cannot be found, is no Lua, or raises an error at its top level.
    pub fn load(environment: &Arc<Environment>, role: Role) -> Result<Self> {
        let _ = role;
        Ok(Self { lua: mlua::Lua::new(), environment: Arc::clone(environment) })
    }

    /// The script's table of options, sorted by name; `None` when it declared none.
    ///
    /// # Errors
    /// When the table is malformed.
    pub fn declared_options(&self) -> Result<Option<Vec<DeclaredOption>>> {
        Ok(None)
    }

    /// Fills `sysbench.opt`. With `as_globals` every option becomes a global variable too, except where there is a function of
    /// that name: scripts of the 0.5 era, which declare no options, read them so.
    ///
    /// # Errors
    /// When Lua is out of memory.
    pub fn set_options(&self, values: &BTreeMap<String, OptionValue>, as_globals: bool) -> Result<()> {
        let _ = (values, as_globals);
        Ok(())
    }

    /// The custom command of that name in `sysbench.cmdline.commands`, if it has a function.
    #[must_use]
    pub fn command(&self, name: &str) -> Option<Command> {
        let _ = name;
        None
    }

    /// Whether there is a global function of that name.
    #[must_use]
    pub fn has_function(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Runs a custom command. False when it returned `false`; nothing and anything else is success.
    ///
    /// # Errors
    /// What the script raised.
    pub fn call_command(&self, name: &str) -> Result<bool> {
        Err(ScriptError::new(ErrorKind::MissingFunction, name))
    }

    /// Calls a global function (`init`, `done`, `prepare`, `cleanup`, `help`, `thread_init`, `thread_done`), with the number of
    /// the thread as argument where there is one.
    ///
    /// # Errors
    /// [`ErrorKind::MissingFunction`] when there is no such function, else what the script raised.
    pub fn call(&self, name: &str, thread: Option<u32>) -> Result<()> {
        let _ = thread;
        Err(ScriptError::new(ErrorKind::MissingFunction, name))
    }

    /// From now on events and statements are told to this meter, those of `thread_init` too.
    pub fn attach(&self, meter: Box<dyn Meter>) {
        drop(meter);
    }

    /// Takes the meter back.
    #[must_use]
    pub fn detach(&self) -> Option<Box<dyn Meter>> {
        None
    }

    /// Runs the Lua global `thread_run`: events until the meter says no, or the script has had enough. Errors that may be
    /// ignored restart the event.
    ///
    /// # Errors
    /// What the script raised.
    pub fn run_thread(&self, thread: u32) -> Result<()> {
        let _ = thread;
        Ok(())
    }

    /// Which reports the script prints itself.
    #[must_use]
    pub fn report_hooks(&self) -> ReportHooks {
        ReportHooks::default()
    }

    /// Has the script print a report.
    ///
    /// # Errors
    /// What the script raised.
    pub fn report(&self, report: Report, stat: &ReportStat) -> Result<()> {
        let _ = (report, stat);
        Ok(())
    }

    /// A handle that ends what this state's connections wait for.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::default())
    }

    /// Bytes that the Lua heap holds.
    #[must_use]
    pub fn memory(&self) -> usize {
        let _ = &self.environment;
        self.lua.used_memory()
    }
}
