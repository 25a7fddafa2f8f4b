//! The data behind the functions that Lua calls. They find it through their thread: a state is
//! *entered* while its Lua code runs.

use crate::environment::Environment;
use crate::error::ErrorKind;
use crate::meter::{Meter, NoMeter};
use crate::random::Draws;
use crate::sql::{CallContext, Done, FAILED, Interrupts, Sql};
use crate::transfer::Transfer;
use dyno_engine::random::Stream;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The purpose of a state; determines `sysbench.tid` and the stream of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Commands, `init`, `done`.
    Main,
    /// A worker thread, from 0.
    Thread(u32),
    /// Custom reports of a script.
    Reporter,
}

/// The Rust side of a state.
pub(crate) struct Context {
    pub(crate) environment: Arc<Environment>,
    pub(crate) meter: Box<dyn Meter>,
    pub(crate) draws: Draws,
    pub(crate) sql: Sql,
    pub(crate) interrupts: Arc<Interrupts>,
    pub(crate) transfer: Transfer,
    /// Number of restarts of the current event.
    pub(crate) restarts: u32,
    /// The last error caused by a database, with its text, to explain why a script ended.
    pub(crate) last_error: Option<(ErrorKind, String)>,
}

/// Rust objects that Lua has collected. Finalisers may run whenever Lua allocates, also while a
/// context is in use, so they only record the object here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Dropped {
    Link(f64),
    Statement(f64),
}

thread_local! {
    static CURRENT: RefCell<Option<Box<Context>>> = const { RefCell::new(None) };
    static DROPPED: RefCell<Vec<Dropped>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    pub(crate) fn new(environment: &Arc<Environment>, role: Role) -> Self {
        // Generated rows and the keys that look them up must come from different streams.
        let stream = match environment.command.as_deref() {
            Some("run") => Stream::Transaction,
            _ => Stream::Data,
        };
        let number = match role {
            Role::Thread(thread) => u64::from(thread),
            Role::Main => MAIN_STREAM,
            Role::Reporter => MAIN_STREAM + 1,
        };
        Self {
            environment: Arc::clone(environment),
            meter: Box::new(NoMeter),
            draws: Draws::new(&environment.random, environment.seed, stream, number),
            sql: Sql::default(),
            interrupts: Arc::default(),
            transfer: Transfer::default(),
            restarts: 0,
            last_error: None,
        }
    }

    /// Executes an SQL operation; returns the number for Lua.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        call: impl FnOnce(&mut Sql, &mut CallContext<'_>, &mut Draws) -> Done,
    ) -> f64 {
        let mut around = CallContext {
            environment: &self.environment,
            meter: &mut *self.meter,
            interrupts: &self.interrupts,
        };
        match call(&mut self.sql, &mut around, &mut self.draws) {
            Ok(number) => number,
            Err(error) => {
                self.sql.error = Some(error);
                FAILED
            }
        }
    }

    /// Frees the objects that Lua has collected.
    pub(crate) fn collect(&mut self) {
        let dropped = DROPPED
            .with(|dropped| dropped.try_borrow_mut().map(|mut list| std::mem::take(&mut *list)));
        for thing in dropped.unwrap_or_default() {
            match thing {
                Dropped::Statement(number) => self.sql.drop_statement(number),
                Dropped::Link(number) => self.sql.drop_link(&self.interrupts, number),
            }
        }
    }
}

/// Stream of the main state: beyond every thread.
const MAIN_STREAM: u64 = 1 << 32;

/// Records that Lua has collected an object.
pub(crate) fn note_dropped(thing: Dropped) {
    DROPPED.with(|dropped| {
        if let Ok(mut list) = dropped.try_borrow_mut() {
            list.push(thing);
        }
    });
}

/// Runs a function with the context of the state that this thread has entered. Returns `or` when
/// there is none, and when the function panics: no panic may cross Lua.
#[inline]
pub(crate) fn with<R: Copy>(or: R, call: impl FnOnce(&mut Context) -> R) -> R {
    with_some(call).unwrap_or(or)
}

/// As [`with`], for an SQL operation: see [`Context::ask`].
#[inline]
pub(crate) fn ask(call: impl FnOnce(&mut Sql, &mut CallContext<'_>, &mut Draws) -> Done) -> f64 {
    with(FAILED, |context| context.ask(call))
}

/// As [`with`], for results without a constant default.
#[inline]
pub(crate) fn with_some<R>(call: impl FnOnce(&mut Context) -> R) -> Option<R> {
    CURRENT.with(|current| {
        let mut current = current.try_borrow_mut().ok()?;
        let context = current.as_mut()?;
        catch_unwind(AssertUnwindSafe(|| call(context))).ok()
    })
}

/// A state whose code runs on this thread. Its context belongs to the thread until this is dropped;
/// entering can be nested.
pub(crate) struct ContextGuard<'a> {
    home: &'a RefCell<Option<Box<Context>>>,
    outer: Option<Box<Context>>,
}

impl<'a> ContextGuard<'a> {
    /// Enters the state whose context is stored in `home`.
    pub(crate) fn new(home: &'a RefCell<Option<Box<Context>>>) -> Self {
        let own = home.borrow_mut().take();
        Self { home, outer: CURRENT.replace(own) }
    }
}

impl Drop for ContextGuard<'_> {
    fn drop(&mut self) {
        let own = CURRENT.replace(self.outer.take());
        *self.home.borrow_mut() = own;
    }
}
