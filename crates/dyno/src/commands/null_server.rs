//! `dyno null-server`: canned replies behind a socket, for calibrating load generators.

use crate::cli::NullServerArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_drivers::null::server::{NullServer, Options};
use dyno_model::exit_code;

/// Serves until Ctrl-C. The address goes to stdout, so that a program may ask for port 0 and read
/// which one it got.
///
/// # Errors
/// When the address cannot be listened at.
pub(crate) fn null_server(
    arguments: &NullServerArguments,
    printer: Printer,
) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let server = NullServer::bind(arguments.protocol, arguments.listen, Options::default())
        .map_err(|error| {
            Failure::new(exit_code::SERVER_FAILED, format!("cannot listen at {}", arguments.listen))
                .because(&error)
                .help("name a free address with --listen; port 0 lets the system choose one")
        })?;
    let counts = server.counts();
    printer.result(&format!("listening at {}", server.local_addr()))?;
    server.run_until(interrupts.flag()).map_err(|error| {
        Failure::new(exit_code::SERVER_FAILED, "the null server ended").because(&error)
    })?;
    printer.note(&format!(
        "{} statements over {} connections, {} prepared",
        counts.statements_total(),
        counts.connections(),
        counts.prepared()
    ));
    Ok(exit_code::OK)
}
