//! `dyno sysbench`, also available by calling dyno under that name.

use crate::curve;
use crate::failure::Failure;
use crate::generators::LoadGenerators;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use std::ffi::OsString;
use std::path::Path;

/// sysbench's exit code for all errors.
const FAILED: u8 = 1;

/// Runs sysbench's command line; the exit codes are those of sysbench.
///
/// # Errors
/// When signal handlers cannot be installed, or results of several runs cannot be written.
pub(crate) fn sysbench(arguments: &[OsString], printer: Printer) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let source = LoadGenerators { interrupts: &interrupts };
    let once = |arguments: &[OsString]| {
        let (terminal, count) = (Printer::terminal(), interrupts.counter());
        dyno_sysbench::main(arguments, "sysbench", terminal, count, Some(&source))
    };
    let curve = dyno_sysbench::curve(arguments).map_err(|text| Failure::new(FAILED, text))?;
    let Some(curve) = curve else { return Ok(once(arguments)) };
    let one = |clients: u32, folder: &Path| {
        let mut results = OsString::from("--results=");
        results.push(folder);
        let ours = [OsString::from(format!("--threads={clients}")), results];
        once(&[&curve.arguments[..], &ours].concat())
    };
    curve::run("sysbench", &curve, one, &interrupts, printer)
}
