//! Trials whose clients are divided among several processes, and what starts these.

mod division;
mod kubernetes;
mod launchers;
mod namespaces;
mod services;
