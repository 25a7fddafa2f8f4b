//! What the functions that Lua calls work on. They find it by their thread: a state is *entered*
//! while its Lua code runs.

use crate::environment::Environment;
use crate::error::ErrorKind;
use crate::meter::{Meter, NoMeter};
use crate::random::Draws;
use crate::sql::{Around, Done, Interrupts, Sql, TROUBLE};
use crate::transfer::Transfer;
use dyno_engine::random::Stream;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// A state's Rust side.
pub(crate) struct Context {
    pub(crate) environment: Arc<Environment>,
    pub(crate) meter: Box<dyn Meter>,
    pub(crate) draws: Draws,
    pub(crate) sql: Sql,
    pub(crate) interrupts: Arc<Interrupts>,
    pub(crate) transfer: Transfer,
    /// Restarts of the event in progress.
    pub(crate) restarts: u32,
    /// The last error that a database caused, with its text, for telling what ended a script.
    pub(crate) last_error: Option<(ErrorKind, String)>,
}

/// Things of Rust that Lua has let go. Finalisers may run whenever Lua allocates, also while a
/// context is in use, so they only leave a note here.
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
        // Rows that a command makes are not drawn from the same stream as the keys that look for
        // them.
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

    /// The number that Lua gets for an operation of its SQL.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        work: impl FnOnce(&mut Sql, &mut Around<'_>, &mut Draws) -> Done,
    ) -> f64 {
        let mut around = Around {
            environment: &self.environment,
            meter: &mut *self.meter,
            interrupts: &self.interrupts,
        };
        match work(&mut self.sql, &mut around, &mut self.draws) {
            Ok(number) => number,
            Err(trouble) => {
                self.sql.trouble = Some(trouble);
                TROUBLE
            }
        }
    }

    /// Lets go of what Lua has let go.
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

/// Leaves a note that Lua has let something go.
pub(crate) fn note_dropped(thing: Dropped) {
    DROPPED.with(|dropped| {
        if let Ok(mut list) = dropped.try_borrow_mut() {
            list.push(thing);
        }
    });
}

/// Does something with the context of the state that this thread has entered. `or` is the answer
/// when there is none, and when the work panics: no panic may cross Lua.
#[inline]
pub(crate) fn with<R: Copy>(or: R, work: impl FnOnce(&mut Context) -> R) -> R {
    with_some(work).unwrap_or(or)
}

/// As [`with`], for an operation of SQL: see [`Context::ask`].
#[inline]
pub(crate) fn ask(work: impl FnOnce(&mut Sql, &mut Around<'_>, &mut Draws) -> Done) -> f64 {
    with(TROUBLE, |context| context.ask(work))
}

/// As [`with`], for answers that are made when needed.
#[inline]
pub(crate) fn with_some<R>(work: impl FnOnce(&mut Context) -> R) -> Option<R> {
    CURRENT.with(|current| {
        let mut current = current.try_borrow_mut().ok()?;
        let context = current.as_mut()?;
        catch_unwind(AssertUnwindSafe(|| work(context))).ok()
    })
}

/// A state whose code runs on this thread. Its context is the thread's until this is dropped;
/// states may be entered inside of each other.
pub(crate) struct Entered<'a> {
    home: &'a RefCell<Option<Box<Context>>>,
    outer: Option<Box<Context>>,
}

impl<'a> Entered<'a> {
    /// Enters the state whose context rests in `home`.
    pub(crate) fn new(home: &'a RefCell<Option<Box<Context>>>) -> Self {
        let own = home.borrow_mut().take();
        Self { home, outer: CURRENT.replace(own) }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let own = CURRENT.replace(self.outer.take());
        *self.home.borrow_mut() = own;
    }
}
