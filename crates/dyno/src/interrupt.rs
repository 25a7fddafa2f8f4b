//! Ctrl-C, termination and a closed terminal: the first signal requests an orderly end with
//! results, the second ends the program at once.
//!
//! `timeout` and shells signal a program and then its whole process group, so one request arrives
//! twice within microseconds. Signals that follow each other faster than a person can press keys
//! count as one, however late a busy machine delivers them.

use crate::failure::Failure;
use crate::printer::Printer;
use dyno_drivers::timeout;
use dyno_model::exit_code;
use dyno_model::sync::lock;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Signals within this time after the first one are the same request.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// Timeout of the last message.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// Stack of the thread that waits for a second request.
const STACK: usize = 64 << 10;

/// Number of signals so far: more than 0 once an orderly end was requested. Every wait for a server
/// or a process polls it a few times a second ([`dyno_drivers::timeout`]). A second request ends
/// the process with exit code 130, whatever it is doing; the supervisor process then stops the
/// servers and removes the scratch folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts {
    count: Arc<AtomicUsize>,
    is_requested: Arc<AtomicBool>,
    /// Printed when a second request ends the process.
    last_message: Arc<Mutex<Option<(Printer, String)>>>,
}

impl Interrupts {
    /// Handles SIGINT, SIGTERM and, unless it is ignored (`nohup`), SIGHUP for the rest of the
    /// process.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let interrupts = Self::default();
        interrupts.register().map_err(|error| {
            Failure::new(exit_code::INTERNAL, "cannot install signal handlers").because(&error)
        })?;
        Ok(interrupts)
    }

    fn register(&self) -> std::io::Result<()> {
        let (wakes, sleeps) = UnixStream::pair()?;
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
            flag::register(signal, Arc::clone(&self.is_requested))?;
            flag::register_usize(signal, Arc::clone(&self.count), 1)?;
            low_level::pipe::register(signal, wakes.try_clone()?)?;
        }
        timeout::count_interrupts(&self.count);
        let last_message = Arc::clone(&self.last_message);
        thread::Builder::new()
            .name("dyno-signals".to_owned())
            .stack_size(STACK)
            .spawn(move || end_at_second_request(sleeps, last_message))?;
        Ok(())
    }

    /// Sets the message that is printed when a second request ends the process.
    pub(crate) fn print_at_once(&self, printer: Printer, message: String) {
        *lock(&self.last_message) = Some((printer, message));
    }

    /// The counter, which the engine polls.
    pub(crate) fn counter(&self) -> &AtomicUsize {
        &self.count
    }

    /// A flag that is set once an orderly end was requested.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.is_requested
    }

    /// True once an orderly end was requested.
    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }
}

/// Turns the file size limit of this process (`ulimit -f`) into an error of the write. Without a
/// handler, SIGXFSZ would end the process; child processes get the signal as usual.
pub(crate) fn survive_large_files() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// True when the parent process set a signal to be ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Waits for signals, one byte each, and ends the process at the first that is a second request.
fn end_at_second_request(
    mut signals: UnixStream,
    last_message: Arc<Mutex<Option<(Printer, String)>>>,
) {
    if second_request(&mut signals).is_ok() {
        dyno_live::terminal::restore();
        let (finished, is_printed) = mpsc::channel::<()>();
        let _ = thread::Builder::new().spawn(move || {
            Printer::divert(None);
            if let Some((printer, message)) = lock(&last_message).take() {
                printer.warning(&message);
            }
            drop(finished);
        });
        // A reader of stderr that has stopped reading must not keep the process alive.
        let _ = is_printed.recv_timeout(OUTPUT_TIMEOUT);
        low_level::exit(i32::from(exit_code::INTERRUPTED));
    }
}

/// Returns at the first signal that is a second request. Signals received before [`SAME_REQUEST`]
/// has passed belong to the first, however late they are read. The other end lives as long as the
/// process; after an error, only the orderly end remains.
fn second_request(signals: &mut UnixStream) -> std::io::Result<()> {
    let mut byte = [0];
    signals.read_exact(&mut byte)?;
    thread::sleep(SAME_REQUEST);
    signals.set_nonblocking(true)?;
    while signals.read_exact(&mut byte).is_ok() {}
    signals.set_nonblocking(false)?;
    signals.read_exact(&mut byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn simultaneous_signals_count_as_one_interrupt_request() {
        let (mut wakes, mut sleeps) = UnixStream::pair().unwrap();
        wakes.write_all(&[0, 0, 0]).unwrap();
        drop(wakes);
        assert!(second_request(&mut sleeps).is_err(), "there was no other one");
    }
}
