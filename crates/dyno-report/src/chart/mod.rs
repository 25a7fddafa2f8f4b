//! Charts as SVG, drawn in Rust: a report needs no script and no network and prints as vectors.
//!
//! # Layout
//! * [`scale`]: axes and round numbers on them; [`text`]: widths of text and labels of axes;
//! * [`svg`]: the picture being written; [`palette`]: what series look like; [`labels`]: labels
//!   kept apart;
//! * [`frame`]: the plot area with its axes, and legends;
//! * [`curves`], [`percentiles`], [`growth`], [`timeline`] with [`tracks`] below it, [`heat`],
//!   [`forest`]: the charts; [`topology`]: boxes and lines.
//!
//! # Invariants
//! Charts hold no prose of their own: every word comes in with the data. They draw any data: none,
//! one value, zeros, not numbers, names of any length; every coordinate is finite and inside the
//! picture. The same data give the same bytes. Why this is not a plotting library's work:
//! `docs/decisions/002-charts.md`.

pub(crate) mod curves;
pub(crate) mod forest;
pub(crate) mod frame;
pub(crate) mod growth;
pub(crate) mod heat_map;
pub(crate) mod labels;
pub(crate) mod palette;
pub(crate) mod percentiles;
pub(crate) mod scale;
pub(crate) mod svg;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod timeline;
pub(crate) mod topology;
pub(crate) mod tracks;
