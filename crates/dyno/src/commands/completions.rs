//! `dyno completions`: shell completion, generated from the declaration of the command line.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::printer::Printer;
use clap::CommandFactory;
use clap_complete::Shell;
use dyno_model::exit_code;

/// Prints the script.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn completions(shell: Shell, printer: Printer) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dyno", &mut script);
    printer.result(String::from_utf8_lossy(&script).trim_end())?;
    Ok(exit_code::OK)
}
