//! Reports: the model and its renderers.

pub mod chart;
pub mod figures;
pub mod html;
pub mod model;
