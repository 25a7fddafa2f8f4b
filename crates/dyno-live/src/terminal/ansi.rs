//! Draws cells with the control sequences that every terminal of today understands (ECMA-48).

use super::device::Device;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write as _;
use std::io::{self, Write};

/// A terminal that collects output and writes it at once.
pub(super) struct Ansi {
    device: Device,
    has_colour: bool,
    output: String,
}

impl Ansi {
    pub(super) fn new(device: Device, has_colour: bool) -> Self {
        Self { device, has_colour, output: String::new() }
    }

    /// Enters the screen again, if something has left it. Returns true if it did.
    pub(super) fn enter_again(&mut self) -> bool {
        self.device.enter_again()
    }
}

/// The sequence that sets the looks of a cell. Attributes are used without colours too.
fn looks(cell: &Cell, has_colour: bool) -> String {
    let mut codes = "\x1b[0".to_owned();
    for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
        if cell.modifier.contains(modifier) {
            let _ = write!(codes, ";{code}");
        }
    }
    let colour = match cell.fg {
        Color::Red => Some(31),
        Color::Green => Some(32),
        Color::Yellow => Some(33),
        Color::Cyan => Some(36),
        _ => None,
    };
    if let Some(colour) = colour.filter(|_| has_colour) {
        let _ = write!(codes, ";{colour}");
    }
    codes.push('m');
    codes
}

impl Backend for Ansi {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut set = String::new();
        for (x, y, cell) in content {
            let _ = write!(self.output, "\x1b[{};{}H", y + 1, x + 1);
            let wanted = looks(cell, self.has_colour);
            if wanted != set {
                self.output.push_str(&wanted);
                set = wanted;
            }
            self.output.push_str(cell.symbol());
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(()) // hidden while the screen is shown
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _position: P) -> io::Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.output.push_str("\x1b[0m\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        self.device.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.device.write_all(self.output.as_bytes())?;
        self.output.clear();
        self.device.flush()
    }
}
