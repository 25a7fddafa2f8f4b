//! Workloads of all kinds: their data, transactions, stages and audits.

mod applications;
pub(crate) mod audits;
mod background;
mod benchmarks;
mod crud;
mod find;
mod generators;
mod growth;
mod histories;
mod http;
mod own_lua;
mod own_sql;
mod own_words;
pub(crate) mod shop;
mod stages;
mod workloads;
