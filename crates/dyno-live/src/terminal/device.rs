//! The terminal of standard error: its second screen, its settings, and how both are restored
//! whatever ends the program.
//!
//! Signals from keys that would suspend or kill dyno at once are off while the screen is shown:
//! a suspended generator measures nothing, and neither could restore the terminal. Ctrl-C works as
//! always. After `kill -9` nobody restores it; the command `reset` does.

use dyno_model::sync::lock;
use ratatui_core::layout::Size;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

/// The settings to restore, while a screen is shown.
static ORIGINAL: Mutex<Option<Termios>> = Mutex::new(None);

/// Set when something else was written to the terminal, and the screen must be entered again.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// Value of a special character that is switched off (`_POSIX_VDISABLE`).
const DISABLED: u8 = 0;

/// True when standard error is a terminal that this process may draw on: a process in the
/// background would be stopped.
#[must_use]
pub fn can_draw() -> bool {
    tcgetpgrp(io::stderr()).is_ok_and(|group| group == getpgrp())
}

/// Restores the terminal, if a screen is shown. Another process or the end of this one may then
/// use it.
pub fn restore() {
    let mut original = lock(&ORIGINAL);
    if let Some(settings) = original.take() {
        let _ = io::stderr().write_all(LEAVE);
        let _ = tcsetattr(io::stderr(), OptionalActions::Now, &settings);
    }
}

/// Restores the terminal before the message of a panic, which would otherwise vanish with the
/// screen. A panic of a worker does not end the run: the screen is then entered again.
fn restore_when_panicking() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            IS_LEFT.store(true, Ordering::Relaxed);
            earlier(panic);
        }));
    });
}

/// The terminal while it shows the screen; dropping it restores the terminal.
#[derive(Debug)]
pub(super) struct Device(());

impl Device {
    /// Switches to the second screen.
    pub(super) fn open() -> io::Result<Self> {
        enter()?;
        restore_when_panicking();
        Ok(Self(()))
    }

    /// Enters the screen again, if a panic has left it. Returns true if it did.
    pub(super) fn enter_again(&mut self) -> bool {
        IS_LEFT.swap(false, Ordering::Relaxed) && enter().is_ok()
    }

    pub(super) fn size(&self) -> io::Result<Size> {
        let size = tcgetwinsize(io::stderr())?;
        // Some terminals report no size.
        let or = |cells: u16, default| if cells == 0 { default } else { cells };
        Ok(Size::new(or(size.ws_col, 80), or(size.ws_row, 24)))
    }
}

impl Write for Device {
    /// Discards a drawing that is late: the terminal is restored, and shows other output.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_shown = lock(&ORIGINAL).is_some();
        if is_shown { io::stderr().write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    let mut original = lock(&ORIGINAL);
    let settings = tcgetattr(io::stderr())?;
    let mut ours = settings.clone();
    ours.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
    ours.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
    ours.special_codes[SpecialCodeIndex::VQUIT] = DISABLED;
    tcsetattr(io::stderr(), OptionalActions::Now, &ours)?;
    *original = Some(settings);
    io::stderr().write_all(ENTER)
}
