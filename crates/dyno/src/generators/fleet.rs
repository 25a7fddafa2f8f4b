//! The generators of a run: started, connected, and ended with it.

use super::generator_handle::{GeneratorEvent, GeneratorHandle};
use super::launch::{self, JoinCredentials, LaunchCommand, TMPDIR};
use super::link::Link;
use super::message::{CoordinatorMessage, Hello, PROTOCOL};
use super::secure;
use crate::interrupt::Interrupts;
use crate::kubernetes::own_address;
use dyno_engine::TrialError;
use dyno_files::{create_new, read_text};
use dyno_host::supervisor::{
    Access, Last, Launch, StopStep, Supervisor, SupervisorCommand, SupervisorSignal,
};
use dyno_model::launcher::{LauncherKind, LauncherPlan};
use dyno_model::plan::Plan;
use dyno_model::printable::line;
use dyno_model::reason::Reason;
use dyno_model::sync::lock;
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long all generators may take to join when nothing launches them.
const JOIN_LIMIT: Duration = Duration::from_secs(60);
/// How long a new connection may take to send its token.
const HELLO_LIMIT: Duration = Duration::from_secs(10);
/// Pause between two checks for who has connected.
const PAUSE: Duration = Duration::from_millis(10);
/// How long to wait for the exit status of a lost generator's process.
const EXIT_LIMIT: Duration = Duration::from_millis(500);
/// The same for a launcher that started all generators: it may have to ask other machines.
const LAUNCHER_EXIT_LIMIT: Duration = Duration::from_secs(2);
/// How long the command that cleans up after a launcher may take.
const AT_END_LIMIT: Duration = Duration::from_secs(10);
/// Longest output that is read, in bytes: that of a supervised command is not longer.
const OUTPUT_MAX: u64 = 17 << 20;
/// Lines of a generator's output that are shown.
const OUTPUT_LINES: usize = 5;

/// The generators of a run, if it has any.
#[derive(Default)]
pub(crate) struct IdleFleet(Option<Fleet>);

impl IdleFleet {
    /// The fleet of a plan, started if there is none.
    ///
    /// # Errors
    /// When it cannot be started, in words.
    pub(crate) fn take(&mut self, plan: &Plan, interrupts: &Interrupts) -> Result<Fleet, String> {
        match self.0.take() {
            Some(fleet) => Ok(fleet),
            None => {
                let (generators, groups) = (plan.most_generators(), 1 + plan.background().len());
                Fleet::launch(&plan.launcher, FleetSize { generators, groups }, interrupts)
            }
        }
    }

    /// Keeps a fleet for the next trial.
    pub(crate) fn keep(&mut self, fleet: Fleet) {
        self.0 = Some(fleet);
    }
}

/// Generators that have joined.
pub(crate) struct Fleet {
    pub(super) members: Vec<GeneratorHandle>,
    /// For each client group that a trial may have.
    events: Vec<Mutex<Receiver<(usize, GeneratorEvent)>>>,
    launches: Mutex<Vec<Launched>>,
}

/// How many generators join, and how many client groups a trial has at most; the measured groups
/// count as one.
#[derive(Clone, Copy)]
pub(super) struct FleetSize {
    pub(super) generators: u32,
    pub(super) groups: usize,
}

/// A launcher's process.
pub(super) struct Launched {
    supervisor: Supervisor,
    output: PathBuf,
    /// The generator that it started; `None`: all.
    generator: Option<u32>,
    join_limit: Duration,
}

impl Launched {
    fn new(command: LaunchCommand) -> Result<Self, String> {
        let mut supervisor = Supervisor::start(&SupervisorCommand::this_program())
            .map_err(|error| error.to_string())?;
        let folder = supervisor
            .make_folder(&std::env::temp_dir(), "dyno-generator", Access::Passed(None), &[])
            .map_err(|error| error.to_string())?;
        let output = folder.join("output");
        let mut environment = command.environment;
        if command.leaves_files {
            environment.retain(|(name, _)| name != TMPDIR);
            environment.push((TMPDIR.to_owned(), folder.display().to_string()));
        }
        let input = command.input.map(|text| (folder.join("input"), text));
        if let Some((path, text)) = &input {
            create_new(path, 0o600)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let launch = |line: Vec<String>, log: &Path| Launch {
            program: line.first().map(PathBuf::from).unwrap_or_default(),
            arguments: line.into_iter().skip(1).collect(),
            environment: environment.clone(),
            folder: here.clone(),
            log: log.to_owned(),
            stop: stop(),
            is_command: true,
            ..Launch::default()
        };
        if let Some(line) = command.at_end {
            let last = Last {
                launch: launch(line, Path::new("/dev/null")),
                limit: AT_END_LIMIT,
                what: "the command that cleans up after generators".to_owned(),
            };
            supervisor.run_at_end(last).map_err(|error| error.to_string())?;
        }
        let input = input.map(|(path, _)| path);
        let launch = Launch { input, ..launch(command.line, &output) };
        supervisor.handle.launch(launch).map_err(|error| error.to_string())?;
        let LaunchCommand { generator, join_limit, .. } = command;
        Ok(Self { supervisor, output, generator, join_limit })
    }

    /// How it ended, if it has, with the end of its output.
    fn end_reason(&self) -> Option<Reason> {
        let reason = Box::new(self.supervisor.end_reason()?);
        let output = last_lines(&self.output);
        Some(match self.generator {
            Some(_) => Reason::ProcessEnded { reason, output },
            None => Reason::LauncherEnded { reason, output },
        })
    }
}

/// How a launcher's process is ended: generators end by themselves when their coordinator is gone.
fn stop() -> Vec<StopStep> {
    vec![StopStep { signal: SupervisorSignal::Terminate, timeout: Duration::from_secs(3) }]
}

/// The last lines of an output, as the end of a sentence.
fn last_lines(output: &Path) -> String {
    let text = read_text(output, OUTPUT_MAX).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(OUTPUT_LINES)..].iter().map(|text| line(text));
    match last.collect::<Vec<_>>() {
        lines if lines.is_empty() => String::new(),
        lines => format!(": {}", lines.join(" | ")),
    }
}

impl Fleet {
    /// Starts generators and waits until all have joined.
    ///
    /// # Errors
    /// When one cannot be started or does not join, in words.
    pub(super) fn launch(
        plan: &LauncherPlan,
        expected: FleetSize,
        interrupts: &Interrupts,
    ) -> Result<Self, String> {
        let (secured, key) = secure::coordinator()?;
        let (listener, address) = listen(plan)
            .map_err(|reason| format!("the coordinator cannot listen for generators: {reason}"))?;
        let credentials = JoinCredentials::new(address, key);
        let commands = launch::commands(plan, expected.generators, &credentials)?;
        let launches =
            commands.into_iter().map(Launched::new).collect::<Result<Vec<_>, String>>()?;
        Self::gather(&listener, secured, &credentials.token, expected, launches, interrupts)
            .map_err(|reason| format!("{reason}{}", advice(plan, &credentials.coordinator)))
    }

    /// Waits until all generators that were launched have joined.
    ///
    /// # Errors
    /// When one does not, in words.
    pub(super) fn gather(
        listener: &TcpListener,
        secured: Arc<ServerConfig>,
        token: &str,
        FleetSize { generators, groups }: FleetSize,
        launches: Vec<Launched>,
        interrupts: &Interrupts,
    ) -> Result<Self, String> {
        let (senders, events): (Vec<_>, Vec<_>) = (0..groups).map(|_| channel()).unzip();
        let waiting = Waiting { secured, generators, token: token.to_owned(), launches };
        let (members, launches) = waiting.all(listener, &senders, interrupts)?;
        let events = events.into_iter().map(Mutex::new).collect();
        Ok(Self { members, events, launches: Mutex::new(launches) })
    }

    /// The next event of any generator for the coordinator of a client group; `None` when there is
    /// none for so long.
    ///
    /// # Errors
    /// When a generator is lost.
    pub(super) fn next(
        &self,
        group: u32,
        wait: Duration,
    ) -> Result<Option<(usize, GeneratorEvent)>, TrialError> {
        let lost = |index: usize, reason: Reason| {
            let name = self.members[index].summary().name();
            Err(TrialError::Failed(Reason::GeneratorLost { name, reason: Box::new(reason) }))
        };
        let events = lock(&self.events[group as usize]);
        let event = match events.recv_timeout(wait) {
            Ok((index, GeneratorEvent::Lost(reason))) => {
                return lost(index, self.end_reason_of(index).unwrap_or(reason));
            }
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(TrialError::Failed("generator connections were all lost".into()));
            }
        };
        // Generators may survive the launcher that started them all, but nothing would end them.
        let of_all = |it: &&Launched| it.generator.is_none();
        let Some(reason) = lock(&self.launches).iter().find(of_all).and_then(Launched::end_reason)
        else {
            return Ok(event);
        };
        // The launcher may exit before the lost generator's connection closes.
        let deadline = Instant::now() + LAUNCHER_EXIT_LIMIT;
        loop {
            match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((index, GeneratorEvent::Lost(_))) => return lost(index, reason),
                Ok(_) => {}
                Err(_) => return Err(TrialError::Failed(Reason::AllGeneratorsLost(reason.into()))),
            }
        }
    }

    /// How the process of a lost generator, or its launcher, ended, if that becomes known soon.
    fn end_reason_of(&self, index: usize) -> Option<Reason> {
        let launches = lock(&self.launches);
        let is_own = |it: &&Launched| it.generator.is_none_or(|own| own as usize == index);
        let own = launches.iter().find(is_own)?;
        let deadline =
            Instant::now() + if own.generator.is_some() { EXIT_LIMIT } else { LAUNCHER_EXIT_LIMIT };
        loop {
            match own.end_reason() {
                None if Instant::now() < deadline => std::thread::sleep(PAUSE),
                end_reason => return end_reason,
            }
        }
    }
}

impl Drop for Fleet {
    /// Generators end when their connections close; then their launchers do.
    fn drop(&mut self) {
        self.members.clear();
        let launches = std::mem::take(&mut *lock(&self.launches));
        std::thread::scope(|scope| {
            for mut launched in launches {
                scope.spawn(move || {
                    let _ = launched.supervisor.handle.wait_exit(Duration::from_secs(2));
                    launched.supervisor.end(&stop());
                });
            }
        });
    }
}

/// Where the coordinator listens, and the address that generators are told.
///
/// # Errors
/// When this machine does not have the address, in words.
pub(super) fn listen(plan: &LauncherPlan) -> Result<(TcpListener, String), String> {
    let text = &match &plan.address {
        Some(address) => address.clone(),
        None if plan.kind == LauncherKind::Kubernetes => own_address()?,
        None => "127.0.0.1".to_owned(),
    };
    let with_port = if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        text.clone()
    } else {
        format!("{text}:0")
    };
    let text_of = |error: io::Error| error.to_string();
    let addresses: Vec<SocketAddr> = with_port.to_socket_addrs().map_err(text_of)?.collect();
    if addresses.iter().any(|it| it.ip().is_unspecified()) {
        return Err("it is the wildcard address; give one that generators can reach".into());
    }
    let listener = TcpListener::bind(&addresses[..]).map_err(text_of)?;
    listener.set_nonblocking(true).map_err(text_of)?;
    let port = listener.local_addr().map_err(text_of)?.port();
    let host = with_port.rsplit_once(':').map_or(text.as_str(), |(host, _)| host);
    Ok((listener, format!("{host}:{port}")))
}

/// What may help when generators do not join.
fn advice(plan: &LauncherPlan, address: &str) -> String {
    match plan.kind {
        LauncherKind::Local | LauncherKind::Ssh => String::new(),
        _ => format!(
            "\nhint: generators connect to {address}; `launcher.address` must be an address of this \
             machine that all of them can reach"
        ),
    }
}

/// A coordinator whose generators have yet to join.
struct Waiting {
    secured: Arc<ServerConfig>,
    generators: u32,
    token: String,
    launches: Vec<Launched>,
}

/// A connection with the right token.
type JoinedGenerator = (Link, Hello);

impl Waiting {
    /// Waits until all have joined.
    fn all(
        self,
        listener: &TcpListener,
        events: &[Sender<(usize, GeneratorEvent)>],
        interrupts: &Interrupts,
    ) -> Result<(Vec<GeneratorHandle>, Vec<Launched>), String> {
        let (sender, arrivals) = channel::<Result<JoinedGenerator, String>>();
        let began = Instant::now();
        let mut members: Vec<Option<GeneratorHandle>> =
            (0..self.generators).map(|_| None).collect();
        let mut refused = None;
        while members.iter().any(Option::is_none) {
            if interrupts.is_requested() {
                return Err("interrupted while generators were started".to_owned());
            }
            while let Ok((socket, _)) = listener.accept() {
                let (secured, token) = (Arc::clone(&self.secured), self.token.clone());
                let sender = sender.clone();
                std::thread::spawn(move || {
                    let joined =
                        welcome(socket, secured, &token).map_err(|error| error.to_string());
                    let _ = sender.send(joined);
                });
            }
            match arrivals.recv_timeout(PAUSE) {
                Ok(Ok((link, hello))) => {
                    let rank = hello.rank.map(|rank| rank as usize);
                    let is_free = |index: &usize| members.get(*index).is_some_and(Option::is_none);
                    let index = rank
                        .filter(is_free)
                        .or_else(|| members.iter().position(Option::is_none))
                        .ok_or("more generators joined than were started")?;
                    let host = line(&hello.host).into_owned();
                    members[index] =
                        Some(GeneratorHandle::new(index, host, link, began, events.to_vec()));
                }
                Ok(Err(reason)) => refused = Some(reason),
                Err(_) => {}
            }
            let joined = members.iter().flatten().count();
            let because = || refused.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
            for launched in &self.launches {
                let is_missing =
                    launched.generator.is_none_or(|number| members[number as usize].is_none());
                if let Some(ending) = launched.end_reason().filter(|_| is_missing) {
                    let who = launched
                        .generator
                        .map_or("the launcher".to_owned(), |number| format!("generator {number}"));
                    return Err(format!("{who} did not join: {ending}{}", because()));
                }
            }
            let limit = self.launches.iter().map(|it| it.join_limit).max().unwrap_or(JOIN_LIMIT);
            if began.elapsed() > limit {
                let (number, limit) = (self.generators, limit.as_secs());
                let first =
                    self.launches.first().map(|it| last_lines(&it.output)).unwrap_or_default();
                return Err(format!(
                    "only {joined} of {number} generators joined within {limit} s{}{first}",
                    because()
                ));
            }
        }
        Ok((members.into_iter().flatten().collect(), self.launches))
    }
}

/// Accepts a generator that has the token and the same version.
fn welcome(
    socket: TcpStream,
    secured: Arc<ServerConfig>,
    token: &str,
) -> io::Result<JoinedGenerator> {
    socket.set_nonblocking(false)?;
    let connection = ServerConnection::new(secured).map_err(io::Error::other)?;
    let mut link = Link::new(connection, socket)?;
    let hello: Hello = link.receive(HELLO_LIMIT)?.ok_or(io::ErrorKind::TimedOut)?;
    if let Some(reason) = refusal(&hello, token) {
        let _ = link.send(&CoordinatorMessage::Refused(reason.clone()));
        return Err(io::Error::other(format!("a connection was refused: {reason}")));
    }
    link.trust();
    link.send(&CoordinatorMessage::Welcome)?;
    Ok((link, hello))
}

/// Why a generator may not join.
fn refusal(hello: &Hello, token: &str) -> Option<String> {
    let own = Hello::new(String::new(), None, String::new());
    if (&hello.version, hello.protocol) != (&own.version, PROTOCOL) {
        return Some(format!(
            "the generator is dyno {} (protocol {}) and the coordinator dyno {} (protocol \
             {PROTOCOL}); install the same version on all machines",
            line(&hello.version),
            hello.protocol,
            own.version
        ));
    }
    let is_right = hello.token.len() == token.len()
        && hello.token.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0;
    (!is_right).then(|| "its token is wrong".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::generator;
    use super::*;

    /// The outcomes on both sides when a generator with a changed invitation connects.
    fn met(change: impl FnOnce(&mut JoinCredentials)) -> (Result<(), String>, Result<(), String>) {
        let (secured, key) = secure::coordinator().expect("a key can be made");
        let (listener, address) = listen(&LauncherPlan::default()).expect("there is a port");
        let mut credentials = JoinCredentials::new(address, key);
        let token = credentials.token.clone();
        change(&mut credentials);
        let guest = std::thread::spawn(move || generator::connect(&credentials).map(drop));
        let socket = loop {
            match listener.accept() {
                Ok((socket, _)) => break socket,
                Err(_) => std::thread::yield_now(),
            }
        };
        let host = welcome(socket, secured, &token).map(drop).map_err(|error| error.to_string());
        (guest.join().expect("it does not panic"), host)
    }

    #[test]
    fn generators_and_coordinator_authenticate_by_token_and_key() {
        assert_eq!(met(|_| ()), (Ok(()), Ok(())));
        let (guest, host) = met(|it| it.token = dyno_host::random::token());
        assert!(guest.is_err_and(|reported| {
            reported.contains("rejected this generator: its token is wrong")
        }));
        assert!(host.is_err_and(|reported| {
            reported.contains("a connection was refused: its token is wrong")
        }));
        let (guest, host) = met(|it| it.key = "00".repeat(32));
        assert!(guest.is_err_and(|reported| {
            reported.contains("its key does not have the expected fingerprint")
        }));
        assert!(host.is_err());
    }

    #[test]
    fn another_version_is_refused_and_named() {
        let hello = |version: &str, protocol| Hello {
            version: version.to_owned(),
            protocol,
            ..Hello::new("t".to_owned(), None, "h".to_owned())
        };
        assert_eq!(refusal(&hello(env!("CARGO_PKG_VERSION"), PROTOCOL), "t"), None);
        for (version, protocol) in [("0.0.9", PROTOCOL), (env!("CARGO_PKG_VERSION"), PROTOCOL + 1)]
        {
            let reported = refusal(&hello(version, protocol), "t").expect("it is another version");
            assert!(
                reported
                    .contains(&format!("the generator is dyno {version} (protocol {protocol})"))
                    && reported.contains("install the same version on all machines"),
                "{reported}"
            );
        }
    }

    #[test]
    fn strangers_cannot_send_long_messages() {
        let (secured, key) = secure::coordinator().expect("a key can be made");
        let (listener, address) = listen(&LauncherPlan::default()).expect("there is a port");
        let mut credentials = JoinCredentials::new(address, key);
        credentials.token = "x".repeat(8 << 10);
        let guest = std::thread::spawn(move || generator::connect(&credentials).map(drop));
        let socket = loop {
            match listener.accept() {
                Ok((socket, _)) => break socket,
                Err(_) => std::thread::yield_now(),
            }
        };
        let reported = welcome(socket, secured, "x").map(drop).expect_err("it is too long");
        assert!(reported.to_string().contains("is too long"), "{reported}");
        assert!(guest.join().expect("it does not panic").is_err());
    }
}
