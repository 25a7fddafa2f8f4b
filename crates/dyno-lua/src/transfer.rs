//! A buffer through which short texts are passed to compiled Lua, which copies them.

use std::cell::Cell;
use std::ffi::c_void;

/// A fixed place in memory. Rust writes to it through cells, so that the address used by Lua stays
/// valid.
pub(crate) struct Transfer(Box<[Cell<u8>]>);

/// Maximum length of a text in bytes.
pub(crate) const TRANSFER_MAX: usize = 512;

impl Default for Transfer {
    fn default() -> Self {
        Self(vec![Cell::new(0); TRANSFER_MAX].into())
    }
}

impl Transfer {
    /// The address that Lua reads.
    pub(crate) fn address(&self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }

    /// Writes a text; returns its length. Longer texts are truncated.
    #[inline]
    pub(crate) fn put(&self, text: &[u8]) -> usize {
        for (cell, byte) in self.0.iter().zip(text) {
            cell.set(*byte);
        }
        text.len().min(TRANSFER_MAX)
    }
}
