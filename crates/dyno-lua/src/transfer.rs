//! Memory through which short texts go to compiled Lua, which copies them from there.

use std::cell::Cell;
use std::ffi::c_void;

/// A fixed place in memory. Rust writes it through cells, so that the address that Lua reads by
/// stays good all the time.
pub(crate) struct Transfer(Box<[Cell<u8>]>);

/// Longest text that goes this way, in bytes.
pub(crate) const TRANSFER_MAX: usize = 512;

impl Default for Transfer {
    fn default() -> Self {
        Self(vec![Cell::new(0); TRANSFER_MAX].into())
    }
}

impl Transfer {
    /// Where Lua reads.
    pub(crate) fn address(&self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }

    /// Puts a text there; its length. What is too long is cut.
    #[inline]
    pub(crate) fn put(&self, text: &[u8]) -> usize {
        for (cell, byte) in self.0.iter().zip(text) {
            cell.set(*byte);
        }
        text.len().min(TRANSFER_MAX)
    }
}
