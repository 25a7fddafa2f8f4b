//! The coordinator's end of the connection to a generator: a thread that sends orders, receives
//! reports, and compares clocks, which also shows that the generator is alive.

use super::clock::Clock;
use super::link::Link;
use super::message::{CoordinatorMessage, GeneratorMessage};
use dyno_engine::GeneratorReport;
use dyno_model::reason::Reason;
use dyno_model::record::GeneratorSummary;
use dyno_model::sync::lock;
use dyno_model::units::Nanos;
use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long an order waits at most.
const TURN: Duration = Duration::from_millis(50);
/// Time between two questions for the clock.
const PING: Duration = Duration::from_millis(500);
/// The first questions follow each other at once.
const FIRST_PINGS: u64 = 16;
/// A generator that sends nothing for so long is lost, and one that hears nothing for so long ends:
/// questions for the clock come several times in this time.
pub(super) const SILENCE: Duration = Duration::from_secs(3);

/// What becomes known of a generator.
#[derive(Debug)]
pub(super) enum GeneratorEvent {
    Report(Box<GeneratorReport>),
    /// It is gone, for this reason.
    Lost(Reason),
}

/// A generator that has joined.
#[derive(Debug)]
pub(super) struct GeneratorHandle {
    pub(super) generator: u32,
    /// Its machine.
    pub(super) host: String,
    pub(super) clock: Arc<Mutex<Clock>>,
    orders: Sender<CoordinatorMessage>,
}

impl GeneratorHandle {
    /// Begins to serve a connection; `number` is the generator's. The coordinator of each client
    /// group receives its events.
    pub(super) fn new(
        generator: usize,
        host: String,
        mut link: Link,
        origin: Instant,
        events: Vec<Sender<(usize, GeneratorEvent)>>,
    ) -> Self {
        let (orders, taken) = channel();
        let clock = Arc::new(Mutex::new(Clock::new(origin)));
        let shared = Arc::clone(&clock);
        std::thread::spawn(move || {
            let report = |group: u32, report| {
                if let Some(events) = events.get(group as usize) {
                    let _ = events.send((generator, GeneratorEvent::Report(report)));
                }
            };
            if let Err(error) = serve(&mut link, &taken, &shared, &report) {
                for events in events {
                    let _ = events.send((generator, GeneratorEvent::Lost(reason_of(&error))));
                }
            }
        });
        Self { generator: generator as u32, host, clock, orders }
    }

    /// What is known of it before its result.
    pub(super) fn summary(&self) -> GeneratorSummary {
        let clock = lock(&self.clock);
        GeneratorSummary {
            number: self.generator,
            host: self.host.clone(),
            clock_uncertainty: Nanos::from(clock.error()),
            clock_drift: clock.drift(),
            ..GeneratorSummary::default()
        }
    }

    /// Sends an order; one that cannot be sent shows by the loss of the generator.
    pub(super) fn order(&self, order: CoordinatorMessage) {
        let _ = self.orders.send(order);
    }
}

/// Why a connection ended.
fn reason_of(error: &io::Error) -> Reason {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            Reason::ConnectionClosed
        }
        ErrorKind::TimedOut => Reason::SentNothing(SILENCE.as_secs()),
        _ => error.to_string().into(),
    }
}

/// Serves the connection until nobody gives orders any more.
fn serve(
    link: &mut Link,
    orders: &Receiver<CoordinatorMessage>,
    clock: &Mutex<Clock>,
    report: &impl Fn(u32, Box<GeneratorReport>),
) -> io::Result<()> {
    let (mut heard, mut ping_at) = (Instant::now(), Instant::now());
    let (mut pending_ping, mut pings) = (None, 0);
    loop {
        loop {
            match orders.try_recv() {
                Ok(order) => link.send(&order)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
        if pending_ping.is_none() && Instant::now() >= ping_at {
            pings += 1;
            pending_ping = Some((pings, lock(clock).now()));
            link.send(&CoordinatorMessage::Ping(pings))?;
        }
        let answer = link.receive(TURN)?;
        if answer.is_some() {
            heard = Instant::now();
        }
        match answer {
            Some(GeneratorMessage::Pong(number, generator_time)) => {
                if let Some((_, at)) = pending_ping.take_if(|(sent, _)| *sent == number) {
                    let mut clock = lock(clock);
                    let now = clock.now();
                    clock.answered(at, generator_time, now);
                }
                if pings >= FIRST_PINGS {
                    ping_at = Instant::now() + PING;
                }
            }
            Some(GeneratorMessage::Report(group, it)) => report(group, it),
            None if heard.elapsed() > SILENCE => return Err(ErrorKind::TimedOut.into()),
            None => {}
        }
    }
}
