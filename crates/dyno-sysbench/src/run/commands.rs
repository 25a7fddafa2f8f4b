//! Commands other than `run`: custom ones, `prepare`, `cleanup`, `help`.

use super::LoadedScript;
use crate::job::{FAILED, INTERRUPTED, Job, OK};
use crate::options::help;
use crate::report::header;
use dyno_drivers::timeout::WORK_AFTER_INTERRUPT;
use dyno_lua::{Interrupts, Role, STACK, ScriptError, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often interrupts are checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Name under which failures of custom commands are told; scripts' users search for it.
pub(crate) const CALL_COMMAND: &str = "sysbench.cmdline.call_command";

/// Executes a custom command of the script; `None` when it has no such command.
pub(crate) fn custom(job: &Job<'_>, script: &LoadedScript, name: &str) -> Option<u8> {
    let is_parallel = script.main.is_parallel_command(name)?;
    if is_parallel && job.options.general.threads > 1 {
        return Some(parallel(job, script, name));
    }
    let outcome = watched(job, &script.main, || script.main.call_command(name));
    Some(job.conclude(CALL_COMMAND, outcome))
}

/// `prepare` and `cleanup` as functions of the script.
pub(crate) fn function(job: &Job<'_>, script: &LoadedScript, name: &str) -> u8 {
    if !script.main.has_function(name) {
        return job.not_implemented(name);
    }
    let outcome = watched(job, &script.main, || script.main.call(name, None).map(|()| true));
    job.conclude(name, outcome)
}

/// `help`: the script's own function, otherwise the list of its options.
pub(crate) fn help(job: &Job<'_>, script: &LoadedScript) -> u8 {
    if script.main.has_function("help") {
        // sysbench succeeds even when the function fails; the user has seen the error.
        let outcome = watched(job, &script.main, || script.main.call("help", None));
        job.conclude("help", outcome.map(|()| true));
        return OK;
    }
    match &script.recipe.definitions {
        Some(definitions) => {
            job.logger.print(&help::script(&job.script_name(), definitions));
            OK
        }
        None => job.not_implemented("help"),
    }
}

impl Job<'_> {
    fn not_implemented(&self, command: &str) -> u8 {
        let name = self.script_name();
        self.logger.complain(&format!("'{name}' test does not implement the '{command}' command."));
        FAILED
    }

    /// Reports a failure; returns the exit code.
    fn conclude(&self, function: &str, outcome: Result<bool, ScriptError>) -> u8 {
        let code = match outcome {
            Ok(true) => OK,
            Ok(false) => FAILED,
            Err(error) => {
                self.logger.fatal(&failed(function, &error.message));
                FAILED
            }
        };
        if self.is_interrupted() { INTERRUPTED } else { code }
    }
}

/// The message for a failure in a function of the script.
pub(crate) fn failed(function: &str, message: &str) -> String {
    format!("`{function}' function failed: {message}")
}

/// Runs code of a state on this thread; an interrupt ends blocking calls of the state. Code started
/// after an interrupt, such as `done`, has a few seconds.
pub(crate) fn watched<T>(job: &Job<'_>, state: &State, run: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    let interrupter = state.interrupter();
    thread::scope(|scope| {
        let (over, ended) = channel::<()>();
        let is_over = &is_over;
        let due = Instant::now()
            + if job.is_interrupted() { WORK_AFTER_INTERRUPT } else { Duration::ZERO };
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                if job.is_interrupted() && Instant::now() >= due {
                    interrupter.interrupt();
                    return;
                }
                // The other end is dropped when the work is done, which ends the wait at once.
                let _ = ended.recv_timeout(LOOK_EVERY);
            }
        });
        let outcome = run();
        is_over.store(true, Ordering::Relaxed);
        drop(over);
        outcome
    })
}

/// A custom command in every thread, each with its own state. A failure in one of them fails the
/// program: sysbench loses these failures and succeeds.
fn parallel(job: &Job<'_>, script: &LoadedScript, name: &str) -> u8 {
    job.logger.notice(header::INITIALIZING);
    let threads = job.options.general.threads;
    let is_failed = AtomicBool::new(false);
    let recipe = &*script.recipe;
    thread::scope(|scope| {
        let (over, ended) = channel::<()>();
        let (interrupters, states) = channel();
        for thread in 0..threads {
            let (over, interrupters, is_failed) = (over.clone(), interrupters.clone(), &is_failed);
            let spawned = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let outcome = recipe.load(Role::Thread(thread)).and_then(|state| {
                    let _ = interrupters.send(state.interrupter());
                    let called = state.call_command(name);
                    recipe.note(&state);
                    called
                });
                if job.conclude(CALL_COMMAND, outcome) != OK {
                    is_failed.store(true, Ordering::Relaxed);
                }
                drop(over);
            });
            if let Err(error) = spawned {
                job.logger.fatal(&format!("cannot create thread {thread}: {error}"));
                is_failed.store(true, Ordering::Relaxed);
                break;
            }
        }
        drop((over, interrupters));
        await_all(job, &ended, &states);
    });
    if job.is_interrupted() {
        INTERRUPTED
    } else if is_failed.load(Ordering::Relaxed) {
        FAILED
    } else {
        OK
    }
}

/// Waits until all threads have dropped their end, and interrupts them when the user does.
fn await_all(job: &Job<'_>, ended: &Receiver<()>, states: &Receiver<Arc<Interrupts>>) {
    let mut interrupters = Vec::new();
    while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        interrupters.extend(states.try_iter());
        if job.is_interrupted() {
            interrupters.drain(..).for_each(|interrupter| interrupter.interrupt());
        }
    }
}
