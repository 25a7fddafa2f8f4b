//! `dyno pgbench`, also available by calling dyno under that name.

use crate::curve;
use crate::failure::Failure;
use crate::generators::LoadGenerators;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_pgbench::{Terminal, exit_code};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs pgbench's command line; the exit codes are those of pgbench.
///
/// # Errors
/// When signal handlers cannot be installed, or results of several runs cannot be written.
pub(crate) fn pgbench(arguments: &[OsString], printer: Printer) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let outputs = Arc::new(PrinterTerminal { printer, has_lost: AtomicBool::new(false) });
    let terminal: Arc<dyn Terminal> = Arc::<PrinterTerminal>::clone(&outputs);
    let source = LoadGenerators { interrupts: &interrupts };
    let once = |arguments: &[String]| {
        dyno_pgbench::main(arguments, &terminal, interrupts.counter(), Some(&source))
    };
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

/// The printer as output of pgbench. Threads write whole pieces, so that lines are not mixed.
struct PrinterTerminal {
    printer: Printer,
    /// True when output was lost, which is reported once.
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
