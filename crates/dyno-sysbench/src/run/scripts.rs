//! A Lua script on the engine: one thread and one state per client.

use super::Recipe;
use super::commands::failed;
use super::reporter::Start;
use crate::logger::{Level, Logger};
use dyno_engine::workload::ClientId;
use dyno_engine::{Meter, Script, ScriptTrouble};
use dyno_lua::{ErrorKind, Role, ScriptError, State, StatementKind};
use dyno_model::failure::FailureKind;
use dyno_model::ledger::{OutcomeClass, ScriptCounter};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The script as the engine's clients run it.
pub(crate) struct LuaScript {
    /// How to make states.
    pub(crate) recipe: Arc<Recipe>,
    /// Where failures are told.
    pub(crate) logger: Arc<Logger>,
    /// What is said before the first event.
    pub(crate) start: Arc<Start>,
}

impl Script for LuaScript {
    fn kinds(&self) -> Vec<&'static str> {
        StatementKind::ALL.iter().map(|kind| kind.name()).collect()
    }

    fn run(&self, client: ClientId, meter: Meter) -> Result<(), ScriptTrouble> {
        let number = client.0;
        self.logger.log(Level::Debug, &format!("Worker thread (#{number}) started"));
        let state = self.recipe.load(Role::Thread(number)).map_err(|error| self.trouble(error.message))?;
        let interrupter = state.interrupter();
        let _guard = meter.interrupters().add(Box::new(move || interrupter.interrupt()));
        let meter = Rc::new(RefCell::new(meter));
        state.attach(Box::new(SharedMeter(Rc::clone(&meter))));
        if state.has_global("thread_init") {
            state.call("thread_init", Some(number)).map_err(|error| self.not_begun(&state, &error))?;
        }
        self.logger.log(Level::Debug, &format!("Worker thread (#{number}) initialized"));
        if !meter.borrow_mut().ready() {
            return Ok(());
        }
        self.start.announce();
        state.run_thread(number).map_err(|error| self.ended(&meter, &error))?;
        self.end(&state, number);
        Ok(())
    }
}

impl LuaScript {
    /// Tells a failure and makes it the end of the run.
    fn failed(&self, function: &str, error: &ScriptError) -> ScriptTrouble {
        self.trouble(failed(function, &error.message))
    }

    /// A failure of `thread_init`: what the end of the run cut off, because another thread had failed, is not told.
    fn not_begun(&self, state: &State, error: &ScriptError) -> ScriptTrouble {
        let by_server = matches!(error.kind, ErrorKind::FatalSql | ErrorKind::Database);
        if by_server && state.interrupter().is_interrupted() {
            return ScriptTrouble(error.message.clone());
        }
        self.failed("thread_init", error)
    }

    fn trouble(&self, message: String) -> ScriptTrouble {
        self.logger.fatal(&message);
        ScriptTrouble(message)
    }

    /// A failure of the loop: that of an event which was cut off is not the script's.
    fn ended(&self, meter: &RefCell<Meter>, error: &ScriptError) -> ScriptTrouble {
        if meter.borrow().is_cut() {
            return ScriptTrouble(error.message.clone());
        }
        self.failed("thread_run", error)
    }

    /// `thread_done`; a failure there is told and nothing more, as in sysbench.
    fn end(&self, state: &State, number: u32) {
        if state.has_global("thread_done")
            && let Err(error) = state.call("thread_done", Some(number))
        {
            self.logger.fatal(&failed("thread_done", &error.message));
        }
    }
}

/// The engine's meter, shared by the state and the thread that owns it.
struct SharedMeter(Rc<RefCell<Meter>>);

impl dyno_lua::Meter for SharedMeter {
    fn more_events(&mut self) -> bool {
        self.0.borrow_mut().more_events()
    }

    fn event_start(&mut self) {
        self.0.borrow_mut().start_event();
    }

    fn begin_event(&mut self) -> bool {
        self.0.borrow_mut().begin_event()
    }

    fn event_stop(&mut self) {
        self.0.borrow_mut().end_event();
    }

    fn abandon_event(&mut self) {
        self.0.borrow_mut().abandon_event();
    }

    fn give_up_event(&mut self) {
        self.0.borrow_mut().give_up_event();
    }

    fn now(&mut self) -> u64 {
        self.0.borrow().now()
    }

    fn statement(&mut self, kind: StatementKind, class: OutcomeClass, start: u64, end: u64) {
        self.0.borrow_mut().statement(kind as u16, start, end, class);
    }

    fn statement_failed(&mut self, kind: StatementKind) {
        self.0.borrow_mut().statement_failed(kind as u16);
    }

    fn may_retry(&mut self) -> bool {
        let meter = self.0.borrow();
        !meter.is_stopped() && !meter.is_cut()
    }

    fn restarted(&mut self) {
        self.0.borrow_mut().restarted(FailureKind::Other);
    }

    fn reconnected(&mut self) {
        self.0.borrow_mut().reconnected();
    }

    fn count(&mut self, counter: ScriptCounter, by: u64) {
        self.0.borrow_mut().count(counter, by);
    }

    fn counter(&mut self, counter: ScriptCounter) -> u64 {
        self.0.borrow().counter(counter)
    }
}
