//! `dyno pgbench` beside the real program: the same scripts and options, the same server.
//!
//! * `scripts.rs`: one script each, in both programs; output, messages and exit codes must be equal
//!   after masking figures;
//! * `options.rs`: command lines that are refused or only print, compared in the same way;
//! * `runs.rs`: whole runs on PostgreSQL: the same seed leaves the same rows, books, limits,
//!   retries, logs, pipelines;
//! * `engines.rs`: the scripts that come with the program on MariaDB, MySQL and SQLite.
//!
//! Where the program `pgbench` is missing nothing can be compared; the tests say so and run ours
//! alone.
#![expect(clippy::print_stderr, reason = "a skipped comparison says so")]

mod engines;
mod options;
mod program;
mod runs;
mod scripts;
