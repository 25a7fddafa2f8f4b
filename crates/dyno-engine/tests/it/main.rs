//! Loads and trials against the null driver, and on SQLite.

mod bench;
mod client_groups;
mod draws;
mod figures;
mod generators;
mod load;
mod loading;
mod open_loop;
mod power_cut;
mod retries;
mod scheduling;

mod stages;
mod sysbench_accounting;
mod trial;
mod verdicts;
