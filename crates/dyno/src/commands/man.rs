//! `dyno man`: manual pages, generated from the declaration of the command line.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::printer::Printer;
use clap::CommandFactory;
use dyno_model::exit_code;
use std::path::Path;

/// Writes a page for dyno and one for each command.
///
/// # Errors
/// When a page cannot be written.
pub(crate) fn man(folder: &Path, printer: Printer) -> Result<u8, Failure> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| Failure::cannot("write manual pages to", folder, &error))?;
    printer.result(&format!("Wrote the manual pages to {}.", folder.display()))?;
    Ok(exit_code::OK)
}
