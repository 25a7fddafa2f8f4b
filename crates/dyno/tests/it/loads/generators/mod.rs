//! Trials whose clients are divided among several processes, and what starts these.

mod background;
mod division;
mod equivalence;
mod kubernetes;
mod launchers;
mod loading;
mod moments;
mod namespaces;
mod pgbench;
mod scripts;
mod services;
mod sysbench;
