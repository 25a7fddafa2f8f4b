//! Workloads that follow well-known benchmarks.

mod tpcc;
mod ycsb;
