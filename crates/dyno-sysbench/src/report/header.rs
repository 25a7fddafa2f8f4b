//! The lines before a run: version and options.

use crate::logger::Seconds;
use crate::options::general::{General, Layout};

/// The sysbench version of a layout.
pub(crate) fn version(layout: Layout) -> &'static str {
    match layout {
        Layout::V1_0 => "1.0.20",
        Layout::V1_1 => "1.1.0",
    }
}

/// The first line: sysbench's version, where parsers expect it, and the program.
pub(crate) fn banner(layout: Layout) -> String {
    format!(
        "sysbench {} (dyno {}, using bundled LuaJIT 2.1)\n",
        version(layout),
        env!("CARGO_PKG_VERSION")
    )
}

/// The lines about a run's options, including `--validate`, whose mere presence counts. One message
/// per item.
pub(crate) fn options(general: &General, seed: Option<u64>, is_validating: bool) -> Vec<String> {
    let mut lines = vec![
        "Running the test with following options:".to_owned(),
        format!("Number of threads: {}", general.threads),
    ];
    if !general.warmup.is_zero() {
        lines.push(format!("Warmup time: {}s", Seconds(general.warmup)));
    }
    if let Some(rate) = general.rate {
        lines.push(format!("Target transaction rate: {rate}/sec"));
    }
    if let Some(interval) = general.interval {
        lines.push(format!("Report intermediate results every {} second(s)", Seconds(interval)));
    }
    if !general.checkpoints.is_empty() {
        let times: Vec<String> =
            general.checkpoints.iter().map(|time| Seconds(*time).to_string()).collect();
        lines.push(format!("Report checkpoint(s) at {} seconds", times.join(", ")));
    }
    if general.debug {
        lines.push("Debug mode enabled.\n".to_owned());
    }
    if is_validating {
        lines.push("Validation checks: on.\n".to_owned());
    }
    lines.push(match seed {
        None => "Initializing random number generator from current time\n".to_owned(),
        Some(seed) => {
            format!("Initializing random number generator from seed ({}).\n", seed as i64)
        }
    });
    if let Some(shutdown) = general.forced_shutdown {
        lines.push(format!("Forcing shutdown in {} seconds", Seconds(shutdown)));
    }
    lines.push(String::new());
    lines
}

/// Printed before threads are started.
pub(crate) const INITIALIZING: &str = "Initializing worker threads...\n";

/// Printed at the common start.
pub(crate) const STARTED: &str = "Threads started!\n";

/// Printed when a warm-up begins.
pub(crate) fn warming_up(general: &General) -> String {
    format!("Warming up for {} seconds...\n", Seconds(general.warmup))
}
