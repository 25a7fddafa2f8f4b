//! `dyno null-server`: canned replies over a socket, to calibrate load generators.

use crate::cli::NullServerArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_drivers::null::server::{NullServer, Options};
use dyno_model::exit_code;

/// Serves until Ctrl-C. It prints the address to stdout, so that a program can request port 0 and
/// read the chosen port.
///
/// # Errors
/// When it cannot listen on the address.
pub(crate) fn null_server(
    arguments: &NullServerArguments,
    printer: Printer,
) -> Result<u8, Failure> {
    let persona = arguments.imitate;
    if persona.is_some_and(|it| it.protocol != arguments.protocol) {
        return Err(Failure::new(exit_code::USAGE, "this product has another protocol")
            .help("`dyno null-server --help` lists the products with their protocols"));
    }
    let interrupts = Interrupts::listen()?;
    let options = Options { persona, ..Options::default() };
    let server =
        NullServer::bind(arguments.protocol, arguments.listen, options).map_err(|error| {
            Failure::new(exit_code::SERVER_FAILED, format!("cannot listen on {}", arguments.listen))
                .because(&error)
                .help("choose a free address with --listen; port 0 lets the system choose a port")
        })?;
    let counters = server.counters();
    printer.result(&format!("listening at {}", server.local_addr()))?;
    server.run_until(interrupts.flag()).map_err(|error| {
        Failure::new(exit_code::SERVER_FAILED, "the null server ended").because(&error)
    })?;
    printer.note(&format!(
        "{} statements over {} connections, {} prepared",
        counters.statements_total(),
        counters.connections(),
        counters.prepared()
    ));
    Ok(exit_code::OK)
}
