//! Loading of tables, and tables that grow.

mod divided;
mod growth;
mod rejected_statistics;
