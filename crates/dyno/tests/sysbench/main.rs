//! `dyno sysbench` beside the real program: the same scripts, the same arguments, the same servers.
//!
//! A script in `scripts/TOPIC/` is a test. Its first comment says what it shows and how it is run
//! (`script.rs`). Both programs run it on MariaDB, MySQL and PostgreSQL, each time on an empty
//! database, and everything that can be observed is compared: output, messages, exit code, tables,
//! and what the server counted (`comparison.rs`). What may differ stands in one table with its
//! reason (`differences.rs`).
//!
//! Where the program `sysbench` is missing there is nothing to compare with; the tests say so and
//! then only run ours. `SUITE_SCRIPT=errors/throw_in_init` runs one script, `SUITE_SHOW=1` prints
//! what was observed.
#![expect(
    clippy::print_stderr,
    reason = "a skipped comparison says so, and observations are shown on request"
)]

mod command_lines;
mod comparison;
mod differences;
mod distributions;
mod experiments;
mod extensions;
mod mask;
mod program;
mod script;
mod server;
mod tables;
mod topics;
