//! `dyno pgbench`, and dyno called by that name.

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_pgbench::terminal::Terminal;
use std::ffi::OsString;
use std::sync::Arc;

/// Carries out pgbench's command line; the exit code is pgbench's too.
///
/// # Errors
/// When the system does not let dyno listen to Ctrl-C.
pub(crate) fn pgbench(arguments: &[OsString], printer: Printer) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let terminal: Arc<dyn Terminal> = Arc::new(PrinterTerminal(printer));
    Ok(dyno_pgbench::main(&arguments, &terminal, interrupts.count()))
}

/// The printer as pgbench's interface wants it. Threads write whole pieces, so that lines stay whole.
struct PrinterTerminal(Printer);

impl Terminal for PrinterTerminal {
    fn result(&self, text: &str) {
        self.0.raw_result(text);
    }

    fn message(&self, text: &str) {
        self.0.raw_message(text);
    }
}
