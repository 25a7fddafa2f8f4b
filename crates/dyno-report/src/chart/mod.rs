//! Charts as SVG, drawn in Rust: a report needs no script and no network and prints as vectors.
//!
//! # Layout
//! * [`scale`]: axes and round numbers on them; [`text`]: widths of text and labels of axes;
//! * [`svg`]: the picture being written; [`palette`]: what series look like; [`labels`]: labels kept apart;
//! * [`frame`]: the plot area with its axes, and legends;
//! * [`curves`], [`percentiles`], [`growth`], [`timeline`] with [`tracks`] below it, [`forest`]: the charts.
//!
//! # Invariants
//! Charts hold no prose of their own: every word comes in with the data. They draw any data: none, one value, zeros, not
//! numbers, names of any length; every coordinate is finite and inside the picture. The same data give the same bytes.
//! Why this is not a plotting library's work: `docs/decisions/002-charts.md`.

pub mod curves;
pub mod forest;
pub mod frame;
pub mod growth;
pub mod labels;
pub mod palette;
pub mod percentiles;
pub mod scale;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;
pub mod timeline;
pub mod tracks;
