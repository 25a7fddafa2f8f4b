//! Tests of the program as a whole.

mod addresses;
mod audits;
mod command_line;
mod compare;
mod endpoints;
mod ends;
mod experiments;
mod growth;
mod import;
mod interrupts;
mod kills;
mod monitor;
mod monitor_agrees;
mod mounts;
mod plan;
mod preflight;
mod program;
mod restarts;
mod resume;
mod runs;
mod servers;
mod settings;
mod spec_errors;
mod storage;
mod tidy;
mod workloads;
