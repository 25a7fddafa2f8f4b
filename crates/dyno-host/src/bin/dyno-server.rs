//! Keeps one managed server running until its standard input ends, for tests and manual use.
//!
//! `dyno-server KIND [SETTING=VALUE]...` prints one line of JSON: the server's address, process id
//! and version. With the argument `supervise` it is the supervisor process.

use dyno_host::server::{StartOptions, start};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::plan::{ManagedServer, ServerKind};
use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "supervise") {
        return dyno_host::supervisor::main();
    }
    match keep(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "dyno-server: {message}");
            ExitCode::FAILURE
        }
    }
}

fn keep(arguments: &[String]) -> Result<(), String> {
    let kinds = ServerKind::ALL.map(ServerKind::name).join("|");
    let usage = || format!("usage: dyno-server {kinds} [SETTING=VALUE]...");
    let (kind, settings) = arguments.split_first().ok_or_else(usage)?;
    let kind = ServerKind::named(kind).ok_or_else(usage)?;
    let settings = settings.iter().map(|pair| pair.split_once('=').ok_or_else(usage));
    let settings =
        settings.map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let server =
        ManagedServer { settings: settings.collect::<Result<_, _>>()?, ..ManagedServer::new(kind) };
    let options = StartOptions::new(kind.name(), SupervisorCommand::this_program());
    let running = start(&server, &options).map_err(|error| error.to_string())?;
    let line = serde_json::json!({
        "endpoint": running.target().endpoint,
        "pid": running.pid(),
        "version": running.version,
        "settings": running.settings,
    });
    let mut output = std::io::stdout();
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(|error| error.to_string())?;
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let stopped = running.stop();
    if stopped.problems.is_empty() { Ok(()) } else { Err(stopped.problems.join("; ")) }
}
