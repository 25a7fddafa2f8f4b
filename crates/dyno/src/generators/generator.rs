//! `dyno generator`: drives some of the clients of trials that another dyno coordinates.
//!
//! The main thread loads, and starts a thread for each client group, which measures. Another thread
//! holds the connection: it answers questions for the clock, hands orders to the main thread, and
//! ends the process when the coordinator is gone.

use super::generator_handle::SILENCE;
use super::launch::{COORDINATOR, JoinCredentials, KEY, RANK, TOKEN};
use super::link::Link;
use super::message::{
    CoordinatorMessage, GeneratorAssignment, GeneratorMessage, Hello, LoadingOrder,
};
use super::secure;
use crate::failure::Failure;
use dyno_drivers::open_files::raise_limit;
use dyno_engine::loading::{Loading, LoadingReport, load_ranges};
use dyno_engine::{GeneratorReport, LoadInput, Start, TrialError};
use dyno_model::event::{CommitActivity, Event, Listener, Phase};
use dyno_model::exit_code;
use dyno_model::reason::Reason;
use dyno_model::record::IntervalRecord;
use dyno_model::sync::lock;
use dyno_model::target::Target;
use dyno_store::environment::boot_id;
use dyno_sysbench::SCRIPT_STACK;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use signal_hook::consts::SIGTERM;
use signal_hook::{flag, low_level};
use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for a message: how soon a report leaves.
const TURN: Duration = Duration::from_millis(20);
/// How long connecting to the coordinator may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
const CONNECT_PAUSE: Duration = Duration::from_millis(200);
/// Time in which clients say good-bye when the coordinator is gone; with [`SILENCE`] less than five
/// seconds.
const GOOD_BYE: Duration = Duration::from_secs(1);
/// Longest line on standard input.
const LINE_MAX: u64 = 1_000;
/// Variables in which launchers tell a process its number.
const RANKS: [&str; 5] =
    [RANK, "SLURM_PROCID", "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_RANK", "PMI_RANK"];

/// Runs until the coordinator is gone.
///
/// # Errors
/// When the coordinator cannot be reached, or refuses.
pub(crate) fn generator() -> Result<u8, Failure> {
    let credentials = credentials().map_err(|text| Failure::new(exit_code::USAGE, text))?;
    raise_limit();
    // The first process of a container ignores signals that it does not handle.
    let _ = flag::register_conditional_shutdown(SIGTERM, 143, Arc::new(AtomicBool::new(true)));
    let mut link =
        connect(&credentials).map_err(|text| Failure::new(exit_code::RUN_INCOMPLETE, text))?;
    link.trust();
    let shared = Arc::new(Shared::default());
    let (sender, outgoing) = channel();
    let (incoming, orders) = channel();
    let watched = Arc::clone(&shared);
    thread::spawn(move || {
        // Whatever the reason, there is nobody who would read it.
        let _ = serve(&mut link, &outgoing, &incoming, &watched);
        watched.interrupts.fetch_add(1, Ordering::Relaxed);
        drop((link, incoming));
        thread::sleep(GOOD_BYE);
        low_level::exit(exit_code::RUN_INCOMPLETE.into());
    });
    let (mut waiting, mut threads) = (Vec::new(), Vec::new());
    while let Ok(order) = orders.recv() {
        match order {
            CoordinatorMessage::Assign(assignment) => {
                let (go, start) = channel();
                waiting.push(go);
                let sender = ReportSender(assignment.group, sender.clone());
                let shared = Arc::clone(&shared);
                let run_group = move || measure(&assignment, &start, &sender, &shared);
                // A thread may have to parse scripts, which needs a larger stack.
                let thread = thread::Builder::new().stack_size(SCRIPT_STACK).spawn(run_group);
                threads.push(thread.map_err(|error| {
                    let text = format!("a thread cannot be started: {error}");
                    Failure::new(exit_code::RUN_INCOMPLETE, text)
                })?);
            }
            CoordinatorMessage::Start(at) => {
                // A group that has failed does not wait.
                waiting.drain(..).for_each(|go| {
                    let _ = go.send(at);
                });
            }
            CoordinatorMessage::Load(order) => {
                load_ranges_of_order(&order, &ReportSender(0, sender.clone()), &shared.interrupts);
            }
            _ => {}
        }
        threads.retain(|thread| !thread.is_finished());
    }
    drop(waiting);
    threads.into_iter().for_each(|thread| drop(thread.join()));
    Ok(exit_code::OK)
}

/// Measures its clients of a client group and reports its result.
fn measure(
    assignment: &GeneratorAssignment,
    start: &Receiver<u64>,
    sender: &ReportSender,
    shared: &Shared,
) {
    let outcome =
        catch_unwind(AssertUnwindSafe(|| run_assignment(assignment, start, sender, shared)));
    let report = match outcome {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => GeneratorReport::Failed(error.into()),
        Err(_) => GeneratorReport::Failed("its thread panicked; this is a bug of dyno".into()),
    };
    let start = lock(&shared.starts).remove(&assignment.group);
    // It may have ended before the other thread saw that it was stopped.
    if let Some((Some(cause), false)) =
        start.as_ref().map(|(it, reported)| (it.stopped(), *reported))
    {
        sender.send(GeneratorReport::Stopped(cause.clone()));
    }
    sender.send(report);
}

/// Reports about a client group.
#[derive(Clone)]
pub(super) struct ReportSender(pub(super) u32, pub(super) Sender<(u32, GeneratorReport)>);

impl ReportSender {
    fn send(&self, report: GeneratorReport) {
        let _ = self.1.send((self.0, report));
    }
}

/// What both threads share.
#[derive(Default)]
pub(super) struct Shared {
    /// More than 0 once the coordinator is gone.
    interrupts: AtomicUsize,
    /// The start of each client group that is being measured, and whether its stop was reported.
    starts: Mutex<BTreeMap<u32, (Start, bool)>>,
}

/// Where the coordinator is: from the environment, or from a line on standard input.
fn credentials() -> Result<JoinCredentials, String> {
    let variable = |name| env::var(name).ok();
    if let (Some(coordinator), Some(key), Some(token)) =
        (variable(COORDINATOR), variable(KEY), variable(TOKEN))
    {
        return Ok(JoinCredentials { coordinator, key, token });
    }
    let mut text = String::new();
    let _ = io::stdin().lock().take(LINE_MAX).read_line(&mut text);
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    match <[String; 3]>::try_from(words) {
        Ok([coordinator, key, token]) => Ok(JoinCredentials { coordinator, key, token }),
        Err(_) => Err(format!(
            "dyno generator is started by the launcher of `dyno run`, which sets {COORDINATOR}, \
             {KEY} and {TOKEN}, or writes them in one line to standard input"
        )),
    }
}

/// The number that the launcher has given this process.
fn rank() -> Option<u32> {
    RANKS.iter().find_map(|name| env::var(name).ok()?.trim().parse().ok())
}

pub(super) fn connect(credentials: &JoinCredentials) -> Result<Link, String> {
    let JoinCredentials { coordinator, key, token } = credentials;
    let unreachable =
        |error: io::Error| format!("cannot reach the coordinator at {coordinator}: {error}");
    let configuration = secure::generator(key)?;
    let deadline = Instant::now() + CONNECT_LIMIT;
    let socket = loop {
        match open(coordinator) {
            // A tunnel may take a moment.
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused
                    && Instant::now() + CONNECT_PAUSE < deadline =>
            {
                thread::sleep(CONNECT_PAUSE);
            }
            outcome => break outcome.map_err(unreachable)?,
        }
    };
    let name = ServerName::try_from("coordinator").map_err(|error| error.to_string())?;
    let connection =
        ClientConnection::new(configuration, name).map_err(|error| error.to_string())?;
    let mut link = Link::new(connection, socket).map_err(unreachable)?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    link.send(&Hello::new(token.clone(), rank(), host)).map_err(unreachable)?;
    match link.receive(CONNECT_LIMIT).map_err(unreachable)? {
        Some(CoordinatorMessage::Welcome) => Ok(link),
        Some(CoordinatorMessage::Refused(reason)) => {
            Err(format!("the coordinator at {coordinator} rejected this generator: {reason}"))
        }
        _ => Err(format!("the coordinator at {coordinator} does not answer")),
    }
}

fn open(address: &str) -> io::Result<TcpStream> {
    let mut last = ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, SILENCE) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Holds the connection until it breaks, or until the coordinator is silent.
fn serve(
    link: &mut Link,
    outgoing: &Receiver<(u32, GeneratorReport)>,
    orders: &Sender<CoordinatorMessage>,
    shared: &Shared,
) -> io::Result<()> {
    let mut heard = Instant::now();
    loop {
        for (group, (start, is_reported)) in lock(&shared.starts).iter_mut() {
            if let (Some(cause), false) = (start.stopped(), *is_reported) {
                *is_reported = true;
                let report = Box::new(GeneratorReport::Stopped(cause.clone()));
                link.send(&GeneratorMessage::Report(*group, report))?;
            }
        }
        loop {
            match outgoing.try_recv() {
                Ok((group, report)) => {
                    link.send(&GeneratorMessage::Report(group, Box::new(report)))?;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
        let order = link.receive(TURN)?;
        if order.is_some() {
            heard = Instant::now();
        }
        match order {
            Some(CoordinatorMessage::Ping(number)) => {
                link.send(&GeneratorMessage::Pong(number, clock()))?;
            }
            Some(CoordinatorMessage::Stop(group, cause)) => {
                if let Some((start, _)) = lock(&shared.starts).get(&group) {
                    start.stop(cause);
                }
            }
            Some(order) => drop(orders.send(order)),
            None if heard.elapsed() > SILENCE => return Err(ErrorKind::TimedOut.into()),
            None => {}
        }
    }
}

/// This process's clock, nanoseconds.
pub(super) fn clock() -> u64 {
    origin().elapsed().as_nanos() as u64
}

fn origin() -> Instant {
    static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// Measures its clients of a client group; `start` receives the time of the clock at which all
/// begin.
pub(super) fn run_assignment(
    assignment: &GeneratorAssignment,
    start: &Receiver<u64>,
    sender: &ReportSender,
    shared: &Shared,
) -> Result<GeneratorReport, TrialError> {
    let GeneratorAssignment { name, load, client_work, .. } = assignment;
    let targets: Vec<Target> = assignment.targets.iter().cloned().map(Target::from).collect();
    let input = LoadInput::new(name, assignment.clients, load, assignment.seed, &shared.interrupts);
    let input = LoadInput {
        interval: assignment.interval,
        growth: assignment.growth,
        expected: assignment.expected,
        shares_machine: assignment.servers_boot == Some(boot_id()),
        ..input.of_generator(assignment.generator, assignment.generators)
    };
    let common_start = || {
        sender.send(GeneratorReport::Ready);
        let at = start.recv().map_err(|_| TrialError::Interrupted)?;
        if at <= clock() {
            let late = Duration::from_nanos(clock() - at).as_millis();
            let reason = format!("received the start signal {late} ms late");
            return Err(TrialError::Failed(reason.into()));
        }
        let start = Start::at(origin() + Duration::from_nanos(at));
        lock(&shared.starts).insert(assignment.group, (start.clone(), false));
        Ok(start)
    };
    let mut listener = sender.clone();
    let own = sender.clone();
    let say = move |text: &str| own.send(GeneratorReport::Message(text.to_owned()));
    let result = client_work.run_subset(
        (&targets, assignment.spare),
        &input,
        common_start,
        &mut listener,
        say,
    )?;
    Ok(GeneratorReport::Done(Box::new(result)))
}

/// Loads ranges of the rows of a data set.
fn load_ranges_of_order(order: &LoadingOrder, sender: &ReportSender, interrupts: &AtomicUsize) {
    let LoadingOrder { name, target, source, ranges, loaders } = order;
    let target = Target::from(target.clone());
    let report = |report| sender.send(GeneratorReport::Loading(report));
    let loaded = source.data().map_err(Reason::from).and_then(|data| {
        let loading = Loading { trial: name, target: &target, data: &data, interrupts };
        load_ranges(&loading, ranges, *loaders, report).map_err(Reason::DataNotLoaded)
    });
    if let Err(reason) = loaded {
        report(LoadingReport::Failed(reason));
    }
}

/// Sends intervals, and how many clients are ready, to the coordinator.
impl Listener for ReportSender {
    fn event(&mut self, event: &Event) {
        if let Event::Progress { phase: Phase::Connecting, done, .. } = event {
            self.send(GeneratorReport::Connected(*done as u32));
        }
    }

    fn commit_activity(&mut self, activity: CommitActivity) {
        self.send(GeneratorReport::Activity(activity));
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.send(GeneratorReport::interval(interval));
    }
}
