//! Results of dbdyno: what a run leaves on disk, and everything that is derived from it.
//!
//! # Layout (read in this order)
//! * [`store`]: the results folder: [`store::RunWriter`] hears the events of a run, [`store::Run`] is what a folder says of it,
//!   [`store::RunData`] the same with the files of its trials;
//! * [`stats`]: Student's t, Welch, paired comparison, Benjamini-Hochberg, verdicts; imports only `std`;
//! * [`analysis`]: a run's data become a [`report::model::ReportModel`];
//! * [`messages`]: the one table of all prose;
//! * [`report`]: renderers of the model: text, Markdown, CSV, JSON, HTML;
//! * [`fixture`] (feature `fixture`): a synthetic run for tests.
//!
//! # Invariants
//! Nothing here imports the engine, the drivers or the host: whoever has a results folder can render its report.
//! Reports are functions of the folder: the same folder gives the same bytes. `stats` and `analysis` are pure.
#![warn(missing_docs)]

pub mod analysis;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod messages;
pub mod report;
pub mod stats;
pub mod store;
