//! Loading of tables, and tables that grow.

mod distributed;
mod growth;
mod rejected_statistics;
