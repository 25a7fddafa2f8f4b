//! `dyno serve`: finished runs in a browser.

use crate::cli::ServeArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::ui::page_server::PageServer;
use dyno_live::server::ResultsHandler;
use dyno_model::exit_code;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Serves the list of runs until the user ends the program.
///
/// # Errors
/// When there are no results, or the address cannot be used.
pub(crate) fn serve(arguments: &ServeArguments, printer: Printer) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let site = ResultsHandler::new(arguments.results.clone(), arguments.language.lang)?;
    let address = PageServer::new(arguments.listen)?.serve(Arc::new(site))?;
    printer.diagnosis(&dyno_report::runs_at(&address, arguments.language.lang));
    while !interrupts.is_requested() {
        thread::sleep(Duration::from_millis(100));
    }
    Ok(exit_code::OK)
}
