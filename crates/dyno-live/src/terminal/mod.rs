//! The screen of a terminal, redrawn by a thread of its own: a terminal that does not take the
//! output (Ctrl-S, a slow connection) holds up nobody else.

mod ansi;
mod device;
mod view;

pub use device::{can_draw, restore};

use crate::live::Live;
use ansi::Ansi;
use device::Device;
use ratatui_core::terminal::Terminal;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Minimum time between two drawings.
const DRAWN_EVERY: Duration = Duration::from_millis(250);

/// The time is redrawn this often, even if nothing else changes.
const CLOCK: Duration = Duration::from_secs(1);

/// A screen that is shown until it is dropped.
#[derive(Debug)]
pub struct Screen {
    live: Live,
    is_closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes over the terminal of standard error.
    ///
    /// # Errors
    /// When the terminal cannot be controlled.
    pub fn open(live: &Live, has_colour: bool) -> io::Result<Self> {
        let device = Device::open()?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let (shown, closing) = (live.clone(), Arc::clone(&is_closing));
        let thread = thread::Builder::new()
            .name("dyno-screen".to_owned())
            .spawn(move || draw_until(&closing, &shown, device, has_colour))?;
        Ok(Self { live: live.clone(), is_closing, thread: Some(thread) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.live.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Draws the state after each change. A terminal that fails is given up.
fn draw_until(is_closing: &AtomicBool, live: &Live, device: Device, has_colour: bool) {
    let Ok(mut terminal) = Terminal::new(Ansi::new(device, has_colour)) else { return };
    let mut seen = 0;
    while !is_closing.load(Ordering::Relaxed) {
        if terminal.backend_mut().enter_again() && terminal.clear().is_err() {
            return;
        }
        let contents = live.read(view::Contents::new);
        if terminal.draw(|frame| view::draw(frame, &contents)).is_err() {
            return;
        }
        thread::sleep(DRAWN_EVERY);
        seen = live.wait(seen, CLOCK);
    }
}
