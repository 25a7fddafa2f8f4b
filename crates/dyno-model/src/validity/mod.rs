//! What may make figures invalid: samples of the monitor, properties of machines, warnings.

pub mod monitor;
pub mod observation;
pub mod preflight;
pub mod reason;
pub mod warning;
