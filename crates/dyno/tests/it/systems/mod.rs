//! Systems under test: servers, clusters, settings, network paths, faults, monitor.

mod clusters;
mod copies;
mod databases;
mod dumps;
mod endpoints;
mod faults;
mod hooks;
mod monitor;
mod monitor_agrees;
mod mounts;
mod poolers;
mod restarts;
mod servers;
mod settings;
mod storage;
