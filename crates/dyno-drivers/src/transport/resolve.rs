//! Names of hosts become addresses. The system's resolver blocks, for as long as a name server may
//! take, so it is asked on a thread of its own: the other clients of an event loop go on, and a
//! deadline holds.

use super::failure::ConnectFailure;
use super::io::Io;
use dyno_model::failure::FailureKind;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Pause before a task on an event loop looks for the answer again.
const PAUSE: Duration = Duration::from_millis(1);

/// The addresses of a host. An address that is written as one needs no resolver.
///
/// # Errors
/// [`ConnectFailure::UnknownHost`] when the name does not resolve; [`FailureKind::Timeout`] at the
/// deadline.
pub(crate) async fn addresses(
    host: &str,
    port: u16,
    io: &Io,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, ConnectFailure> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let unknown = |error: io::Error| ConnectFailure::UnknownHost {
        host: host.to_owned(),
        reason: error.to_string(),
    };
    let question = (host.to_owned(), port);
    let answer =
        elsewhere(move || question.to_socket_addrs().map(Vec::from_iter)).map_err(unknown)?;
    match awaited(&answer, io, deadline).await {
        Some(addresses) => addresses.map_err(unknown),
        None => {
            let reason = format!("the addresses of host {host} were not found in time");
            Err(FailureKind::Timeout.failure(reason).into())
        }
    }
}

/// Runs something that may block on a thread of its own, which nobody waits for when its answer is
/// no longer wanted.
fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (answer, answered) = channel();
    std::thread::Builder::new()
        .name("dyno-resolver".to_owned())
        .spawn(move || answer.send(work()))?;
    Ok(answered)
}

/// The answer, once it is there; `None` at the deadline, and when patience is at its end.
async fn awaited<T>(
    answer: &Receiver<io::Result<T>>,
    io: &Io,
    deadline: Instant,
) -> Option<io::Result<T>> {
    let lost = || io::Error::other("the resolver ended without an answer");
    let mut waiting = io.waiting();
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        match answer.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Disconnected) => return Some(Err(lost())),
            Err(TryRecvError::Empty) if remaining.is_zero() => return None,
            Err(TryRecvError::Empty) if waiting.as_mut().is_some_and(|w| w.check().is_err()) => {
                return None;
            }
            Err(TryRecvError::Empty) => io.sleep(PAUSE.min(remaining)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Executor, Reactor, block_on};
    use std::cell::Cell;
    use std::rc::Rc;

    /// No test waits so long for anything that comes.
    const TIMEOUT: Duration = Duration::from_secs(180);

    #[test]
    fn a_resolver_that_takes_its_time_holds_up_no_other_client_of_the_event_loop() {
        let reactor = Reactor::new().unwrap();
        let mut executor = Executor::new(reactor.clone());
        let (say, told) = channel();
        let resolved = Rc::new(Cell::new(None));
        let there = Rc::clone(&resolved);
        executor.spawn(async move {
            let answer =
                elsewhere(move || told.recv_timeout(TIMEOUT).map_err(io::Error::other)).unwrap();
            let io = Io::Reactor(reactor);
            there.set(
                awaited(&answer, &io, Instant::now() + TIMEOUT).await.map(|answer| answer.is_ok()),
            );
        });
        // The resolver only answers after this client has had its turn.
        executor.spawn(async move { say.send(()).unwrap() });
        while executor.alive() > 0 {
            executor.turn(Duration::from_millis(100)).unwrap();
        }
        assert_eq!(resolved.get(), Some(true));
    }

    #[test]
    fn a_resolver_that_never_answers_is_left_at_the_deadline() {
        let (_kept, never) = channel::<io::Result<()>>();
        let soon = || Instant::now() + Duration::from_millis(5);
        assert!(block_on(awaited(&never, &Io::Blocking, soon())).is_none());
        let io = Io::Reactor(Reactor::new().unwrap());
        let past = Instant::now();
        assert!(block_on(awaited(&never, &io, past)).is_none());
    }

    #[test]
    fn names_and_addresses_are_understood_and_nonsense_is_an_unknown_host() {
        let deadline = || Instant::now() + TIMEOUT;
        let ask = |host: &str| block_on(addresses(host, 7, &Io::Blocking, deadline()));
        assert_eq!(ask("127.0.0.1").unwrap(), [SocketAddr::from(([127, 0, 0, 1], 7))]);
        assert_eq!(ask("::1").unwrap(), [SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 7))]);
        assert!(ask("localhost").unwrap().iter().all(|address| address.ip().is_loopback()));
        let failure = ask("no-such-host.invalid").unwrap_err();
        assert!(
            matches!(failure, ConnectFailure::UnknownHost { ref host, .. } if host == "no-such-host.invalid")
        );
    }
}
