//! `dyno doctor`: whether this machine is fit for measuring, and what the generator can do on it.

use crate::checkup::{self, Check};
use crate::cli::DoctorArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_engine::workload::{Native, Setting};
use dyno_engine::{LoadInput, LoadRecord, run_load, with_native};
use dyno_host::server;
use dyno_model::catalog::WorkloadDescription;
use dyno_model::event::Listener;
use dyno_model::exit_code;
use dyno_model::plan::{LoadPlan, ServerKind, StopRule, WorkloadPlan};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use dyno_report::finding_sentence;
use dyno_store::environment::Environment;
use serde::Serialize;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How long the machine is watched while dyno does nothing.
const WATCHED: Duration = Duration::from_secs(2);
/// Clients of the two loads on the null server, and how long each lasts.
const CLIENTS: [u32; 2] = [1, 64];
const LOAD: Nanos = Nanos(2_000_000_000);
/// What the generator does there.
const WORKLOAD: &str = "oltp_point_select";

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    machine: Vec<Check>,
    disks: Vec<Check>,
    servers: Vec<Check>,
    generator: Vec<Check>,
}

/// Looks, and says what it saw. Doubts are no failure.
///
/// # Errors
/// When the generator cannot be tried, or standard output takes no more.
pub(crate) fn doctor(
    arguments: &DoctorArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    printer.note("Looking at the machine, then trying the generator: about ten seconds.");
    let mut machine = checkup::machine(&Environment::capture());
    machine.push(neighbours());
    let mut folders = vec![std::env::temp_dir()];
    folders.extend(std::env::current_dir().ok().filter(|folder| *folder != folders[0]));
    let disks = folders.iter().map(|folder| checkup::disk(folder)).collect();
    let mut generator = Vec::new();
    for clients in CLIENTS {
        generator.push(tried(clients, catalog, &interrupts)?);
    }
    let report = Report { machine, disks, servers: servers(), generator };
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&report).expect("texts are JSON"),
        false => text(&report),
    };
    printer.result(&text)?;
    Ok(exit_code::OK)
}

fn neighbours() -> Check {
    let findings = dyno_host::checkup::neighbours(WATCHED);
    let sentences: Vec<String> = findings.iter().map(|it| finding_sentence(it, dyno_report::EN)).collect();
    if sentences.is_empty() {
        return Check::fine("neighbours", "nobody else took a noticeable share of the processors");
    }
    Check::doubt(
        "neighbours",
        sentences.join(" "),
        "wait until they are done, or move to a machine of your own",
    )
}

/// The servers that dyno can start.
fn servers() -> Vec<Check> {
    let kinds = ServerKind::ALL.into_iter().filter(|kind| kind.engine().is_server());
    let found = kinds.map(|kind| match server::locate(kind, None) {
        Ok(binary) => {
            Check::fine(kind.to_string(), format!("{} at {}", binary.version, binary.program.display()))
        }
        Err(_) => Check::fine(kind.to_string(), "not found; a spec can name its folder with server.bin_dir"),
    });
    found.collect()
}

/// What the generator does against a server that answers at once.
fn tried(clients: u32, catalog: &[WorkloadDescription], interrupts: &Interrupts) -> Result<Check, Failure> {
    let failed = |reason: String| {
        Failure::new(exit_code::SERVER_FAILED, format!("the generator cannot be tried: {reason}"))
    };
    let server = serve(Protocol::Mysql, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Options::default());
    let server = server.map_err(|error| failed(error.to_string()))?;
    let endpoint = Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: server.local_addr.port() };
    let target = Target { user: "dyno".to_owned(), ..Target::new(Engine::Mysql, endpoint) };
    let described =
        catalog.iter().find(|workload| workload.name == WORKLOAD).expect("it is in the catalogue");
    let plan = WorkloadPlan::new(WORKLOAD, described.defaults());
    let native = Native::build(&plan, Setting { engine: target.engine, clients, seed: 1 }).map_err(failed)?;
    let load = LoadPlan::new(StopRule::Duration(LOAD));
    let input =
        LoadInput { shares_machine: true, ..LoadInput::new(WORKLOAD, clients, &load, 1, interrupts.count()) };
    let record = with_native!(native, workload => run_load(workload, &[target], &input, &mut Silent));
    let record = record.map_err(|error| failed(error.to_string()))?;
    server.stop().map_err(|error| failed(error.to_string()))?;
    Ok(capacity(clients, &record))
}

/// Hears nothing of what is tried.
struct Silent;

impl Listener for Silent {}

fn capacity(clients: u32, record: &LoadRecord) -> Check {
    let place = format!("{clients} client{}", if clients == 1 { "" } else { "s" });
    let cpu: f64 = record.generator.workers.iter().map(|worker| worker.cpu.as_secs_f64()).sum();
    let statements = record.ledger.committed;
    if statements == 0 {
        return Check::doubt(place, "no statement was answered", "look for what else the machine does");
    }
    let message = format!(
        "{:.0} statements/s from a null server, {:.1} µs of processor time each",
        record.throughput(),
        cpu * 1e6 / statements as f64
    );
    if cfg!(debug_assertions) {
        return Check::doubt(place, message, "this is a debug build: build with --release");
    }
    Check::fine(place, message)
}

fn text(report: &Report) -> String {
    let parts = [
        ("This machine", &report.machine),
        ("Disks", &report.disks),
        ("Servers that dyno can start", &report.servers),
        ("The generator", &report.generator),
    ];
    let checks = || parts.iter().flat_map(|(_, checks)| checks.iter());
    let width = checks().map(|check| check.place.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, checks) in &parts {
        let _ = writeln!(text, "{title}");
        for Check { place, message, is_doubt, remedy } in *checks {
            let word = if *is_doubt { "doubt" } else { "" };
            let _ = writeln!(text, "  {word:5}  {place:width$}  {message}");
            if let Some(remedy) = remedy {
                let _ = writeln!(text, "  {:5}  {:width$}  remedy: {remedy}", "", "");
            }
        }
        text.push('\n');
    }
    text.push_str(&match checks().filter(|check| check.is_doubt).count() {
        0 => "Nothing here would spoil a measurement.".to_owned(),
        1 => "One thing here can spoil a measurement.".to_owned(),
        doubts => format!("{doubts} things here can spoil a measurement."),
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_are_marked_counted_and_have_their_remedy_below() {
        let clock = Check::doubt("clock", "a reading takes 900 ns", "clocksource=tsc");
        let report = Report {
            machine: vec![Check::fine("processors", "2 usable"), clock],
            disks: vec![Check::fine("disk of /tmp", "a durable write of 4 KB takes 1.00 ms")],
            servers: Vec::new(),
            generator: Vec::new(),
        };
        insta::assert_snapshot!(text(&report), @r"
        This machine
                 processors    2 usable
          doubt  clock         a reading takes 900 ns
                               remedy: clocksource=tsc

        Disks
                 disk of /tmp  a durable write of 4 KB takes 1.00 ms

        Servers that dyno can start

        The generator

        One thing here can spoil a measurement.
        ");
    }
}
