//! Charts of the page, with their titles and captions.

pub(super) mod charts;
pub(super) mod curve_figures;
pub(super) mod details;
pub(super) mod errors;
pub(super) mod forests;
pub(super) mod growth;
pub(super) mod heat_map;
pub(super) mod latency_throughput;
pub(super) mod percentiles;
pub(super) mod resources;
pub(super) mod searches;
pub(super) mod titles;
