//! Charts as SVG, drawn in Rust: a report needs no script and no network access, and prints as
//! vector graphics.
//!
//! # Layout
//! * [`scale`]: axes and round numbers on them; [`text`]: widths of text and labels of axes;
//! * [`svg`]: the SVG writer; [`palette`]: appearance of series; [`labels`]: placement of labels
//!   without overlaps;
//! * [`frame`]: the plot area with its axes, and legends;
//! * [`curves`], [`percentiles`], [`growth`], [`timeline`] with [`tracks`] below it, [`heat_map`],
//!   [`forest`]: the charts; [`topology`]: boxes and lines.
//!
//! # Invariants
//! Charts contain no prose: every word comes with the data. They accept any data: no values, one
//! value, zeros, NaN, names of any length; every coordinate is finite and inside the picture. The
//! same data give the same bytes. `docs/decisions/002-charts.md` explains why dyno does not use a
//! plotting library.

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
