//! Lua scripts on the engine: one thread per client, with a state for each script.

use super::Recipe;
use super::commands::failed;
use super::reporter::Start;
use crate::logger::{Level, Logger};
use crate::options::general::General;
use dyno_engine::random::{Random, Stream};
use dyno_engine::text::intern;
use dyno_engine::workload::ClientId;
use dyno_engine::{CustomAudit, Meter, Script, ScriptFailure, ScriptThreads};
use dyno_lua::{ErrorKind, Role, STACK, ScriptError, State, StatementKind};
use dyno_model::counters::{OutcomeClass, ScriptCounter};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::failure_log::Failed;
use dyno_model::secret::Secret;
use dyno_model::units::Nanos;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for threads to be ready when there is no limit.
const ENDLESS: Duration = Duration::from_secs(u32::MAX as u64);

/// How the threads of scripts are created.
pub(crate) fn threads(general: &General) -> ScriptThreads {
    ScriptThreads {
        stack: STACK.max(general.stack_size as usize),
        ready_limit: general.init_timeout.unwrap_or(ENDLESS),
    }
}

/// The scripts executed by the engine's clients.
pub(crate) struct LuaScripts {
    /// At least one. The script of each event is drawn by weight.
    pub(crate) scripts: Vec<WeightedScript>,
    /// Seed for drawing scripts.
    pub(crate) seed: u64,
    /// The audit of the data at the end.
    pub(crate) audit: Arc<CustomAudit>,
    pub(crate) logger: Arc<Logger>,
    /// The announcement before the first event.
    pub(crate) start: Arc<Start>,
}

pub(crate) struct WeightedScript {
    pub(crate) name: String,
    pub(crate) weight: u32,
    /// Creates states.
    pub(crate) recipe: Arc<Recipe>,
}

/// Kinds of statements of scripts with these names; those of a single script have no name prefix.
pub(crate) fn kinds(scripts: &[&str]) -> Vec<&'static str> {
    let kinds = StatementKind::ALL.iter().map(|kind| kind.name());
    match scripts {
        [_] => kinds.collect(),
        several => {
            let of =
                |name: &&str| kinds.clone().map(|kind| intern(&format!("{name} {kind}"))).collect();
            several.iter().map(of).collect::<Vec<Vec<_>>>().concat()
        }
    }
}

impl Script for LuaScripts {
    fn kinds(&self) -> Vec<&'static str> {
        let names: Vec<&str> = self.scripts.iter().map(|script| script.name.as_str()).collect();
        kinds(&names)
    }

    fn commit_kinds(&self) -> Vec<usize> {
        let commit = StatementKind::ALL.iter().position(|kind| *kind == StatementKind::Commit);
        let each = StatementKind::ALL.len();
        (0..self.scripts.len()).filter_map(|script| Some(script * each + commit?)).collect()
    }

    fn run(&self, client: ClientId, meter: Meter) -> Result<(), ScriptFailure> {
        let thread_id = client.0;
        self.logger.log(Level::Debug, &format!("Worker thread (#{thread_id}) started"));
        let meter = Rc::new(RefCell::new(meter));
        let chooser = Rc::new(ScriptChooser::new(self, thread_id));
        let (mut states, mut guards) = (Vec::new(), Vec::new());
        for (script, weighted) in self.scripts.iter().enumerate() {
            let loaded = weighted.recipe.load(Role::Thread(thread_id));
            let state = loaded.map_err(|error| self.problem(error.message))?;
            let interrupter = state.interrupter();
            guards
                .push(meter.borrow().interrupters().add(Box::new(move || interrupter.interrupt())));
            let (meter, chooser) = (Rc::clone(&meter), Rc::clone(&chooser));
            state.attach(Box::new(SharedMeter { meter, chooser, script }));
            if state.has_global("thread_init") {
                state
                    .call("thread_init", Some(thread_id))
                    .map_err(|error| self.not_begun(&state, &error))?;
            }
            state.collect_garbage();
            states.push(state);
        }
        self.logger.log(Level::Debug, &format!("Worker thread (#{thread_id}) initialized"));
        if !meter.borrow_mut().await_start() {
            return Ok(());
        }
        self.start.announce();
        let mut script = 0;
        loop {
            states[script].run_thread(thread_id).map_err(|error| self.ended(&meter, &error))?;
            // A loop also ends when the next event belongs to another script.
            match chooser.next.get().filter(|next| *next != script) {
                Some(next) => script = next,
                None => break,
            }
        }
        states.iter().for_each(|state| self.end(state, thread_id));
        Ok(())
    }
}

impl LuaScripts {
    /// Reports a failure and ends the run.
    fn failed(&self, function: &str, error: &ScriptError) -> ScriptFailure {
        self.problem(failed(function, &error.message))
    }

    /// A failure of `thread_init`; not reported when it was only cut off because another thread had
    /// failed.
    fn not_begun(&self, state: &State, error: &ScriptError) -> ScriptFailure {
        let by_server = matches!(error.kind, ErrorKind::FatalSql | ErrorKind::Database);
        if by_server && state.interrupter().is_interrupted() {
            return ScriptFailure(error.message.clone());
        }
        self.failed("thread_init", error)
    }

    fn problem(&self, message: String) -> ScriptFailure {
        self.logger.fatal(&message);
        ScriptFailure(message)
    }

    /// A failure of the loop; that of an event that was cut off is not the script's.
    fn ended(&self, meter: &RefCell<Meter>, error: &ScriptError) -> ScriptFailure {
        if meter.borrow().is_cut() {
            return ScriptFailure(error.message.clone());
        }
        self.failed("thread_run", error)
    }

    /// `thread_done`; a failure is only reported, as in sysbench.
    fn end(&self, state: &State, thread_id: u32) {
        if state.has_global("thread_done")
            && let Err(error) = state.call("thread_done", Some(thread_id))
        {
            self.logger.fatal(&failed("thread_done", &error.message));
        }
    }
}

/// The script of the next event, and the state of the event. Shared by the states of a client.
struct ScriptChooser {
    weights: Vec<u64>,
    random: RefCell<Random>,
    /// The script of an event that has begun before its state runs.
    next: Cell<Option<usize>>,
    /// An event has begun and not ended.
    is_open: Cell<bool>,
    audit: Arc<CustomAudit>,
}

impl ScriptChooser {
    fn new(scripts: &LuaScripts, client: u32) -> Self {
        Self {
            weights: scripts.scripts.iter().map(|script| u64::from(script.weight)).collect(),
            random: RefCell::new(Random::new(scripts.seed, Stream::Choice, client.into(), 0)),
            next: Cell::new(None),
            is_open: Cell::new(false),
            audit: Arc::clone(&scripts.audit),
        }
    }

    /// Draws the script of the next event.
    fn drawn(&self) -> usize {
        let [_, _, ..] = self.weights[..] else { return 0 };
        let mut drawn = self.random.borrow_mut().below(self.weights.iter().sum());
        let falls = |weight: &u64| {
            let is_this = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            is_this
        };
        self.weights
            .iter()
            .position(falls)
            .expect("a number below the sum of the weights falls into one of them")
    }

    /// Begins an event, if there is one and it belongs to this script.
    fn begins(&self, script: usize, meter: &RefCell<Meter>) -> bool {
        if self.next.get() == Some(script) {
            self.next.set(None);
        } else {
            if !meter.borrow_mut().begin_event() {
                return false;
            }
            let drawn = self.drawn();
            if drawn != script {
                self.next.set(Some(drawn));
                return false;
            }
        }
        self.opens(script);
        true
    }

    fn opens(&self, script: usize) {
        self.audit.begins(script);
        self.is_open.set(true);
    }

    fn committed(&self, script: usize) {
        if self.is_open.take() {
            self.audit.ends(script, &Ok(()));
        }
    }
}

/// The engine's meter, shared by the states and the thread that owns it.
struct SharedMeter {
    meter: Rc<RefCell<Meter>>,
    chooser: Rc<ScriptChooser>,
    /// Number of the script.
    script: usize,
}

impl SharedMeter {
    fn kind(&self, kind: StatementKind) -> u16 {
        (self.script * StatementKind::ALL.len()) as u16 + kind as u16
    }
}

impl dyno_lua::Meter for SharedMeter {
    fn more_events(&mut self) -> bool {
        self.meter.borrow_mut().more_events()
    }

    fn event_start(&mut self) {
        self.meter.borrow_mut().start_event();
        self.chooser.opens(self.script);
    }

    fn begin_event(&mut self) -> bool {
        self.chooser.begins(self.script, &self.meter)
    }

    fn event_stop(&mut self) {
        self.meter.borrow_mut().end_event();
        self.chooser.committed(self.script);
    }

    fn abandon_event(&mut self) {
        self.meter.borrow_mut().abandon_event();
    }

    fn give_up_event(&mut self) {
        self.meter.borrow_mut().give_up_event();
    }

    fn now(&mut self) -> u64 {
        self.meter.borrow().now()
    }

    fn statement(&mut self, kind: StatementKind, class: OutcomeClass, start: u64, end: u64) {
        self.meter.borrow_mut().statement(self.kind(kind), start, end, class);
    }

    fn statement_failed(&mut self, kind: StatementKind) {
        self.meter.borrow_mut().statement_failed(self.kind(kind));
    }

    fn note_failure(&mut self, failure: &OperationFailure, sql: &str, password: &Secret) {
        let statement = StatementKind::of(sql.as_bytes()).name();
        let failed = Failed { failure, statement, sql: Some(sql), at: Nanos::default() };
        self.meter.borrow_mut().note_failure(&failed, password);
    }

    fn may_retry(&mut self) -> bool {
        let meter = self.meter.borrow();
        !meter.is_stopped() && !meter.is_cut()
    }

    fn restarted(&mut self) {
        self.meter.borrow_mut().restarted(FailureKind::Other);
    }

    fn reconnected(&mut self) {
        self.meter.borrow_mut().reconnected();
    }

    fn add_to_counter(&mut self, counter: ScriptCounter, by: u64) {
        self.meter.borrow_mut().add_to_counter(counter, by);
    }

    fn counter(&mut self, counter: ScriptCounter) -> u64 {
        self.meter.borrow().counter(counter)
    }
}
