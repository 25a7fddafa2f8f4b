//! `dyno sysbench`, and dyno called by that name.

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use std::ffi::OsString;

/// Carries out sysbench's command line; the exit code is sysbench's too.
///
/// # Errors
/// When the system does not let dyno listen to Ctrl-C.
pub(crate) fn sysbench(arguments: &[OsString]) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    Ok(dyno_sysbench::main(arguments, "sysbench", Printer::terminal(), interrupts.count()))
}
