//! Tests of workloads: scripts, and files with options.

mod properties;
mod scripts;
