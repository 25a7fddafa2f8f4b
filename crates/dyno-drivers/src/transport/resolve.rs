//! Resolves host names. The system's resolver blocks for as long as a name server may take, so it
//! runs in a separate thread: other clients of an event loop continue, and deadlines apply.

use super::failure::ConnectFailure;
use super::io::Io;
use dyno_model::failure::FailureKind;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Pause before a task on an event loop checks for the answer again.
const PAUSE: Duration = Duration::from_millis(1);

/// The addresses of a host. Literal addresses need no resolver.
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
        in_own_thread(move || question.to_socket_addrs().map(Vec::from_iter)).map_err(unknown)?;
    match awaited(&answer, io, deadline).await {
        Some(addresses) => addresses.map_err(unknown),
        None => {
            let reason = format!("resolving host {host} timed out");
            Err(FailureKind::Timeout.failure(reason).into())
        }
    }
}

/// Runs a blocking function in a separate thread, which is abandoned when its result is no longer
/// needed.
fn in_own_thread<T: Send + 'static>(
    task: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (answer, answered) = channel();
    std::thread::Builder::new()
        .name("dyno-resolver".to_owned())
        .spawn(move || answer.send(task()))?;
    Ok(answered)
}

/// The answer; `None` at the deadline, and when the timeout expires.
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

    /// Longer than any test should wait.
    const TIMEOUT: Duration = Duration::from_secs(180);

    #[test]
    fn a_slow_resolver_blocks_no_other_client_of_the_event_loop() {
        let reactor = Reactor::new().unwrap();
        let mut executor = Executor::new(reactor.clone());
        let (release, released) = channel();
        let resolved = Rc::new(Cell::new(None));
        let there = Rc::clone(&resolved);
        executor.spawn(async move {
            let answer =
                in_own_thread(move || released.recv_timeout(TIMEOUT).map_err(io::Error::other))
                    .unwrap();
            let io = Io::Reactor(reactor);
            there.set(
                awaited(&answer, &io, Instant::now() + TIMEOUT).await.map(|answer| answer.is_ok()),
            );
        });
        // The resolver answers only after this client was polled.
        executor.spawn(async move { release.send(()).unwrap() });
        while executor.alive() > 0 {
            executor.turn(Duration::from_millis(100)).unwrap();
        }
        assert_eq!(resolved.get(), Some(true));
    }

    #[test]
    fn a_resolver_that_never_answers_is_abandoned_at_the_deadline() {
        let (_kept, never) = channel::<io::Result<()>>();
        let soon = || Instant::now() + Duration::from_millis(5);
        assert!(block_on(awaited(&never, &Io::Blocking, soon())).is_none());
        let io = Io::Reactor(Reactor::new().unwrap());
        let past = Instant::now();
        assert!(block_on(awaited(&never, &io, past)).is_none());
    }

    #[test]
    fn hosts_are_resolved_and_invalid_names_are_unknown_hosts() {
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
