//! The figures of the current trial for other programs.
//!
//! # Layout (read in this order)
//! * `collected`: names, types and values; `open_metrics`: their text for Prometheus; `otlp`: their
//!   JSON for OpenTelemetry; `push`: sends it to a collector.

mod collected;
mod open_metrics;
mod otlp;
mod push;

pub use collected::{Collected, collect};
pub use open_metrics::{CONTENT_TYPE, NAMES, expose};
pub use push::{Collector, Push};
