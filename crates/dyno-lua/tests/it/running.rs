//! How the tests run scripts. Scripts check their own observations: `same(found, expected)` and
//! `fails(text, f, ...)`.

use dyno_lua::{
    Environment, Log, LogLevel, Meter, Role, ScriptError, ScriptSource, State, StatementKind,
};
use dyno_model::counters::{OutcomeClass, ScriptCounter};
use dyno_model::target::{Endpoint, Engine, Target};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Put before every script on its first line, so that the script's own lines are numbered from 2.
const CHECKS: &str = "local function same(found, expected) if found ~= expected then error('expected ' .. tostring(expected) .. ', found ' .. tostring(found), 2) end end local function fails(text, f, ...) local ok, why = pcall(f, ...) if ok then error('no error, expected ' .. text, 2) end if type(why) == 'table' then why = why.sql_errmsg or 'a table' end if not tostring(why):find(text, 1, true) then error('expected ' .. text .. ', got ' .. tostring(why), 2) end end";

/// A script with this text, called `test.lua`.
pub(crate) fn text(script: &str) -> ScriptSource {
    ScriptSource::Text {
        name: "test.lua".to_owned(),
        text: format!("{CHECKS}\n{script}").into_bytes(),
    }
}

/// An environment for `run`, with this script.
pub(crate) fn environment(script: &str) -> Environment {
    let mut environment = Environment::new(text(script));
    environment.command = Some("run".to_owned());
    environment.seed = 7;
    environment
}

/// As [`environment`] without a server: every statement succeeds without rows.
pub(crate) fn dry(script: &str) -> Arc<Environment> {
    let mut environment = environment(script);
    environment.databases.dry_run = true;
    Arc::new(environment)
}

/// As [`environment`] with canned replies behind the MySQL driver.
pub(crate) fn canned(script: &str, replies: &str) -> Environment {
    let mut environment = environment(script);
    let mut target = Target::new(Engine::Null, Endpoint::InProcess);
    target.database = replies.to_owned();
    environment.databases.access_mut(Engine::Mysql).targets = vec![target];
    environment
}

/// A state of thread 0.
pub(crate) fn state(environment: &Arc<Environment>) -> Result<State, ScriptError> {
    State::load(environment, Role::Thread(0))
}

/// Loads a script and calls its `event` once, in a dry run.
pub(crate) fn check(script: &str) {
    let state = state(&dry(script)).unwrap_or_else(|error| panic!("{error}"));
    state.call("event", Some(0)).unwrap_or_else(|error| panic!("{error}"));
}

/// The calls that a meter has received.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) started: u32,
    pub(crate) stopped: u32,
    pub(crate) abandoned: u32,
    pub(crate) given_up: u32,
    pub(crate) restarted: u32,
    pub(crate) reconnected: u32,
    pub(crate) failed: u32,
    pub(crate) statements: Vec<(StatementKind, OutcomeClass)>,
    pub(crate) counted: Vec<(ScriptCounter, u64)>,
}

impl Told {
    /// Number of statements of a class.
    pub(crate) fn count(&self, class: OutcomeClass) -> usize {
        self.statements.iter().filter(|(_, found)| *found == class).count()
    }
}

/// Allows a number of events and of retries.
pub(crate) struct Recording {
    events: u32,
    retries: u32,
    now: u64,
    reported: Rc<RefCell<Told>>,
}

impl Recording {
    /// A meter, and the calls that it will receive.
    pub(crate) fn new(events: u32, retries: u32) -> (Box<Self>, Rc<RefCell<Told>>) {
        let reported = Rc::new(RefCell::new(Told::default()));
        (Box::new(Self { events, retries, now: 0, reported: Rc::clone(&reported) }), reported)
    }
}

impl Meter for Recording {
    fn more_events(&mut self) -> bool {
        let goes_on = self.events > 0;
        self.events = self.events.saturating_sub(1);
        goes_on
    }

    fn event_start(&mut self) {
        self.reported.borrow_mut().started += 1;
    }

    fn event_stop(&mut self) {
        self.reported.borrow_mut().stopped += 1;
    }

    fn abandon_event(&mut self) {
        self.reported.borrow_mut().abandoned += 1;
    }

    fn give_up_event(&mut self) {
        self.reported.borrow_mut().given_up += 1;
    }

    fn now(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn statement(&mut self, kind: StatementKind, class: OutcomeClass, start: u64, end: u64) {
        assert!(start < end);
        self.reported.borrow_mut().statements.push((kind, class));
    }

    fn statement_failed(&mut self, _kind: StatementKind) {
        self.reported.borrow_mut().failed += 1;
    }

    fn may_retry(&mut self) -> bool {
        let may = self.retries > 0;
        self.retries = self.retries.saturating_sub(1);
        may
    }

    fn restarted(&mut self) {
        self.reported.borrow_mut().restarted += 1;
    }

    fn reconnected(&mut self) {
        self.reported.borrow_mut().reconnected += 1;
    }

    fn add_to_counter(&mut self, counter: ScriptCounter, by: u64) {
        self.reported.borrow_mut().counted.push((counter, by));
    }

    fn counter(&mut self, counter: ScriptCounter) -> u64 {
        self.reported
            .borrow()
            .counted
            .iter()
            .filter(|(known, _)| *known == counter)
            .map(|(_, by)| by)
            .sum()
    }
}

/// Runs a script's events on thread 0, with `thread_init` before and `thread_done` after them if
/// defined.
pub(crate) fn run(
    environment: &Arc<Environment>,
    events: u32,
    retries: u32,
) -> (Result<(), ScriptError>, Rc<RefCell<Told>>) {
    let (meter, reported) = Recording::new(events, retries);
    let all = || -> Result<(), ScriptError> {
        let state = state(environment)?;
        state.attach(meter);
        if state.has_function("thread_init") {
            state.call("thread_init", Some(0))?;
        }
        state.run_thread(0)?;
        if state.has_function("thread_done") {
            state.call("thread_done", Some(0))?;
        }
        Ok(())
    };
    (all(), reported)
}

/// Keeps log lines.
#[derive(Debug, Default)]
pub(crate) struct Lines(pub(crate) Mutex<Vec<(LogLevel, String)>>);

impl Log for Lines {
    fn log(&self, level: LogLevel, text: &str) {
        self.0.lock().unwrap().push((level, text.to_owned()));
    }
}

impl Lines {
    /// Texts of all lines so far.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
    }
}
