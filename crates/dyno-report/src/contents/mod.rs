//! Contents of reports, the same in all formats: measures, tables, notes and sections.

pub(super) mod facts;
pub(super) mod isolation;
pub(super) mod metrics;
pub(super) mod notes;
pub(super) mod sections;
pub(super) mod table_builder;
pub(super) mod tables;
pub(super) mod test_report;
pub(super) mod tiles;
pub(super) mod topology;
