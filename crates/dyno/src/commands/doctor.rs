//! `dyno doctor`: checks whether this machine suits measuring, and measures the generator's speed.

use crate::checkup;
use crate::cli::DoctorArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_engine::workload::{Native, WorkloadContext};
use dyno_engine::{LoadInput, LoadRecord};
use dyno_host::server;
use dyno_model::catalog::WorkloadDescription;
use dyno_model::event::Listeners;
use dyno_model::exit_code;
use dyno_model::observation::Observation;
use dyno_model::plan::{LoadPlan, ServerKind, StopRule, WorkloadPlan};
use dyno_model::target::{Endpoint, Target};
use dyno_model::units::Nanos;
use dyno_report::Checkup;
use dyno_store::environment::Environment;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How long the machine is watched while dyno is idle.
const WATCHED: Duration = Duration::from_secs(2);
/// Clients of the two loads on the null server, and the duration of each.
const CLIENTS: [u32; 2] = [1, 64];
const LOAD: Nanos = Nanos(2_000_000_000);
/// Workload of these loads.
const WORKLOAD: &str = "oltp_point_select";

/// Checks the machine and prints the observations. Warnings are not failures.
///
/// # Errors
/// When the generator cannot be measured, or stdout cannot be written.
pub(crate) fn doctor(
    arguments: &DoctorArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let interrupts = Interrupts::listen()?;
    let lang = arguments.language.lang;
    printer.note(dyno_report::looking(lang));
    let mut machine = checkup::machine(&Environment::capture());
    machine.push(Observation::Neighbours { warnings: dyno_host::checkup::neighbours(WATCHED) });
    let mut folders = vec![std::env::temp_dir()];
    folders.extend(std::env::current_dir().ok().filter(|folder| *folder != folders[0]));
    let disks = folders.iter().map(|folder| dyno_host::checkup::disk(folder)).collect();
    let mut generator = Vec::new();
    for clients in CLIENTS {
        generator.push(tried(clients, catalog, &interrupts)?);
    }
    let checkup = Checkup { machine, disks, servers: servers(), generator };
    match arguments.json {
        true => printer.result(&checkup.to_json(lang)),
        false => printer.prose(&checkup.to_text(lang)),
    }?;
    Ok(exit_code::OK)
}

/// The servers that dyno can start.
fn servers() -> Vec<Observation> {
    let kinds = ServerKind::ALL.into_iter().filter(|kind| kind.engine().is_server());
    let found = kinds.map(|kind| {
        let binary = server::locate(kind, None).ok();
        Observation::Server {
            kind,
            found: binary.map(|it| (it.version.to_string(), it.program.display().to_string())),
        }
    });
    found.collect()
}

/// Measures the generator against a server that replies at once.
fn tried(
    clients: u32,
    catalog: &[WorkloadDescription],
    interrupts: &Interrupts,
) -> Result<Observation, Failure> {
    let failed = |reason: String| {
        Failure::new(
            exit_code::SERVER_FAILED,
            format!("the generator cannot be measured: {reason}"),
        )
    };
    let (protocol, engine) = Protocol::USUAL;
    let server = serve(protocol, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Options::default());
    let server = server.map_err(|error| failed(error.to_string()))?;
    let endpoint =
        Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: server.local_addr.port() };
    let target = Target { user: "dyno".to_owned(), ..Target::new(engine, endpoint) };
    let described =
        catalog.iter().find(|workload| workload.name == WORKLOAD).expect("it is in the catalogue");
    let plan = WorkloadPlan::new(WORKLOAD, described.defaults());
    let native = Native::build(&plan, WorkloadContext { engine: target.engine, clients, seed: 1 })
        .map_err(failed)?;
    let load = LoadPlan::new(StopRule::Duration(LOAD));
    let input = LoadInput {
        shares_machine: true,
        ..LoadInput::new(WORKLOAD, clients, &load, 1, interrupts.counter())
    };
    let record = native.run_load(&[target], &input, &mut Listeners(Vec::new()));
    let record = record.map_err(|error| failed(error.to_string()))?;
    server.stop().map_err(|error| failed(error.to_string()))?;
    Ok(capacity(clients, &record))
}

fn capacity(clients: u32, record: &LoadRecord) -> Observation {
    let cpu: f64 = record.generator.workers.iter().map(|worker| worker.cpu.as_secs_f64()).sum();
    let statements = record.counters.committed;
    Observation::Generator {
        clients,
        per_second: record.throughput(),
        cpu_us: (statements > 0).then(|| cpu * 1e6 / statements as f64),
        is_debug_build: cfg!(debug_assertions),
    }
}
