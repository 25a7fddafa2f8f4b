//! Live views of a run: a terminal, a browser, Prometheus.

mod browser;
mod pages;
mod prometheus;
mod screen;
mod served;
