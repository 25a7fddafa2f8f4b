//! pgbench's scripts, command line and output on dyno's engine.
