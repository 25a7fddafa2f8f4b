//! Live views of a run: a terminal, a browser, Prometheus, a collector.

mod browser;
mod collector;
mod pages;
mod prometheus;
mod screen;
mod served;
