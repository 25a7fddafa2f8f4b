//! Live views of a run: a terminal, a browser, Prometheus, a collector; and the page over runs.

mod browser;
mod collector;
mod history;
mod pages;
mod prometheus;
mod screen;
mod served;
