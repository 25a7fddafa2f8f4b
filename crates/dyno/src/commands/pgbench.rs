//! `dyno pgbench`, and dyno called by that name.

use crate::curve;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_pgbench::{Terminal, exit_code};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Carries out pgbench's command line; the exit code is pgbench's too.
///
/// # Errors
/// When the system does not let dyno listen to Ctrl-C, or results of several runs cannot be
/// written.
pub(crate) fn pgbench(arguments: &[OsString], printer: Printer) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let outputs = Arc::new(PrinterTerminal { printer, has_lost: AtomicBool::new(false) });
    let terminal: Arc<dyn Terminal> = Arc::<PrinterTerminal>::clone(&outputs);
    let once = |arguments: &[String]| dyno_pgbench::main(arguments, &terminal, interrupts.count());
    let curve =
        dyno_pgbench::curve(&arguments).map_err(|text| Failure::new(exit_code::FAILED, text))?;
    let code = match curve {
        None => once(&arguments),
        Some(curve) => {
            let one = |clients: u32, folder: &Path| {
                let ours =
                    [format!("--client={clients}"), format!("--results={}", folder.display())];
                once(&[&ours[..], &curve.arguments].concat())
            };
            curve::run("pgbench", &curve, one, &interrupts, printer)?
        }
    };
    let has_lost = outputs.has_lost.load(Ordering::Relaxed);
    Ok(if has_lost && code == exit_code::OK { exit_code::FAILED } else { code })
}

/// The printer as pgbench's interface wants it. Threads write whole pieces, so that lines stay
/// whole.
struct PrinterTerminal {
    printer: Printer,
    /// Whether something could not be written, which is told once.
    has_lost: AtomicBool,
}

impl Terminal for PrinterTerminal {
    fn result(&self, text: &str) {
        if let Err(error) = self.printer.raw_result(text)
            && !self.has_lost.swap(true, Ordering::Relaxed)
        {
            self.message(&format!("pgbench: error: cannot write to standard output: {error}\n"));
        }
    }

    fn message(&self, text: &str) {
        self.printer.raw_message(text);
    }
}
