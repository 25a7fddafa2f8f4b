//! Workloads that follow well-known benchmarks.

mod tpcb;
mod tpcc;
mod ycsb;
