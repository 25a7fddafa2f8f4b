//! Loading of tables, and tables that grow.

mod growth;
mod rejected_statistics;
