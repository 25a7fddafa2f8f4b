//! A connected socket, optionally encrypted, that either blocks or pends.

use super::encryption::Encryption;
use super::failure::{ConnectFailure, connect_failure, stream_failure};
use super::io::Io;
use super::reactor::Registration;
use super::resolve::addresses;
use crate::timeout::{self, CHECK_INTERVAL, TimedOut};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Endpoint;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustls::{ClientConfig, ClientConnection};
use rustls_pki_types::ServerName;
use socket2::{Domain, SockAddr, Socket, Type};
use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// A connected socket. Reads and writes pend on the reactor or block the thread, depending on
/// [`Io`]; both respect the deadline.
pub struct Stream {
    wire: Wire,
    tls: Option<Box<Encryption>>,
}

/// The socket itself, without encryption.
struct Wire {
    // Dropped before the socket, so that it is deregistered while the descriptor is still ours.
    waiting: Waiting,
    /// True when the socket blocks without a timeout after the deadline of the login is removed.
    blocks: bool,
    /// Shared with interrupters only.
    socket: Arc<Socket>,
    deadline: Option<Instant>,
    /// When the task will be woken for a deadline: one timer serves all earlier operations, however
    /// often the deadline changes.
    armed: Cell<Option<Instant>>,
}

enum Waiting {
    Blocking,
    /// The socket blocks for short intervals, after each of which the timeout is checked.
    Patient(Box<timeout::Waiting>),
    Reactor(Registration),
}

/// Pause before connecting to a unix socket with a full queue is retried.
const BACKLOG_PAUSE: Duration = Duration::from_millis(1);

impl Stream {
    /// Connects to a TCP port (with `TCP_NODELAY`) or a unix socket. All addresses of a host name
    /// are tried in order.
    ///
    /// # Errors
    /// [`ConnectFailure::UnknownHost`] when the name does not resolve; otherwise
    /// [`FailureKind::ConnectRefused`] when nothing listens, [`FailureKind::Timeout`] at the
    /// deadline.
    pub async fn connect(
        endpoint: &Endpoint,
        io: &Io,
        deadline: Instant,
    ) -> Result<Self, ConnectFailure> {
        match endpoint {
            Endpoint::Tcp { host, port } => {
                let mut failure =
                    FailureKind::ConnectRefused.failure(format!("host {host} has no address"));
                for address in addresses(host, *port, io, deadline).await? {
                    match Self::connect_tcp(address, io, deadline).await {
                        Ok(stream) => return Ok(stream),
                        Err(error) => failure = connect_failure(error, &address.to_string()),
                    }
                    if failure.kind == FailureKind::Cancelled {
                        break;
                    }
                }
                Err(failure.into())
            }
            Endpoint::Unix(path) => Self::connect_unix(path, io, deadline)
                .await
                .map_err(|error| connect_failure(error, &path.display().to_string()).into()),
            Endpoint::File(_) | Endpoint::InProcess => Err(FailureKind::Unsupported
                .failure(format!("{endpoint} is not an address of a server"))
                .into()),
        }
    }

    async fn connect_tcp(address: SocketAddr, io: &Io, deadline: Instant) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_tcp_nodelay(true)?;
        Self::establish(socket, &address.into(), io, deadline).await
    }

    async fn connect_unix(path: &Path, io: &Io, deadline: Instant) -> io::Result<Self> {
        let address = SockAddr::unix(path)?;
        let mut waiting = io.waiting();
        loop {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
            match Self::establish(socket, &address, io, deadline).await {
                // A unix socket with a full queue fails at once instead of waiting like TCP.
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
                {
                    io.sleep(BACKLOG_PAUSE).await;
                    if let Some(waiting) = &mut waiting {
                        waiting.check().map_err(timed_out)?;
                    }
                }
                other => return other,
            }
        }
    }

    async fn establish(
        socket: Socket,
        address: &SockAddr,
        io: &Io,
        deadline: Instant,
    ) -> io::Result<Self> {
        let waiting = match io {
            Io::Reactor(reactor) => {
                socket.set_nonblocking(true)?;
                let pending = begin_to_connect(&socket, address)?;
                let registration = reactor.register(socket.as_raw_fd())?;
                if pending {
                    registration.wake_at(deadline);
                    poll_fn(|_| match registration.is_writable() {
                        true => Poll::Ready(Ok(())),
                        false if Instant::now() >= deadline => {
                            Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
                        }
                        false => Poll::Pending,
                    })
                    .await?;
                    if let Some(error) = socket.take_error()? {
                        return Err(error);
                    }
                }
                Waiting::Reactor(registration)
            }
            Io::Blocking | Io::WithTimeout(_) => {
                let mut waiting = io.waiting().expect("blocking I/O has a timeout state");
                connect_with_timeout(&socket, address, &mut waiting, deadline)?;
                Waiting::Patient(Box::new(waiting))
            }
        };
        let blocks = matches!(io, Io::Blocking);
        Ok(Self {
            wire: Wire {
                waiting,
                blocks,
                socket: Arc::new(socket),
                deadline: None,
                armed: Cell::new(None),
            },
            tls: None,
        })
    }

    /// Performs the TLS handshake; the connection is encrypted afterwards.
    ///
    /// # Errors
    /// [`FailureKind::Certificate`] when the certificate is refused, otherwise as reading and
    /// writing fail.
    pub async fn start_tls(
        &mut self,
        configuration: Arc<ClientConfig>,
        host: &str,
    ) -> Result<(), OperationFailure> {
        let refused = |error: String| FailureKind::Certificate.failure(format!("TLS: {error}"));
        let name =
            ServerName::try_from(host.to_owned()).map_err(|error| refused(error.to_string()))?;
        let mut tls = ClientConnection::new(configuration, name)
            .map_err(|error| refused(error.to_string()))?;
        // A handshake and a statement need only a few records.
        tls.set_buffer_limit(None);
        let tls = self.tls.insert(Box::new(Encryption::new(tls)));
        while tls.is_handshaking() {
            self.wire.flush(tls).await.map_err(stream_failure)?;
            if !tls.is_handshaking() {
                break;
            }
            if tls.needs_bytes() {
                let received = self.wire.fill(tls).await.map_err(stream_failure)?;
                if received == 0 {
                    return Err(refused(
                        "the server closed the connection during the handshake".to_owned(),
                    ));
                }
            }
            tls.digest().map_err(|error| match error.get_ref() {
                Some(inner) if inner.is::<rustls::Error>() => refused(inner.to_string()),
                _ => stream_failure(error),
            })?;
        }
        self.wire.flush(tls).await.map_err(stream_failure)
    }

    /// The server's certificate in DER; `None` without encryption.
    #[must_use]
    pub fn server_certificate(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.session().peer_certificates()?.first().map(AsRef::as_ref)
    }

    /// The protocol on which the TLS handshake agreed (ALPN).
    #[must_use]
    pub fn agreed_protocol(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.session().alpn_protocol()
    }

    /// True once [`Self::start_tls`] has succeeded.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// For a blocking socket: a function that another thread can call to break the connection,
    /// which ends a read or write in progress. It does not keep the connection open.
    #[must_use]
    pub fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        if let Waiting::Reactor(_) = self.wire.waiting {
            return None;
        }
        let socket = Arc::downgrade(&self.wire.socket);
        Some(Box::new(move || {
            if let Some(socket) = socket.upgrade() {
                // A connection that is already broken needs no shutdown.
                let _ = socket.shutdown(Shutdown::Both);
            }
        }))
    }

    /// Reads and writes fail with `TimedOut` after this time; `None` removes the limit.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.wire.deadline = deadline;
        if deadline.is_none() && self.wire.blocks {
            self.wire.waiting = Waiting::Blocking;
            let _ = self.wire.socket.set_read_timeout(None);
            let _ = self.wire.socket.set_write_timeout(None);
        }
    }

    /// Reads available data, at least one byte; 0 when the peer has closed.
    ///
    /// # Errors
    /// Those of the socket; `TimedOut` at the deadline.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.wire.receive(buffer).await };
        loop {
            if let Some(count) = tls.plaintext(buffer)? {
                return Ok(count);
            }
            if self.wire.fill(tls).await? == 0 {
                return Ok(0);
            }
        }
    }

    /// True when the end reached by a read is authentic, which only TLS can confirm.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.has_ended())
    }

    /// True while the peer waits for a request: it has not closed, and has sent nothing. Never
    /// waits; a stream for which this is false must not be used any more.
    pub fn is_idle(&mut self) -> bool {
        let Self { wire, tls } = self;
        let mut byte = [0];
        let outcome = match tls {
            None => wire.receive_now(&mut byte),
            Some(tls) => loop {
                match tls.plaintext(&mut byte) {
                    // Session tickets and similar messages.
                    Ok(None) => match wire.receive_now(tls.room()) {
                        Ok(0) => break Ok(0),
                        Ok(count) => tls.arrived(count),
                        Err(error) => break Err(error),
                    },
                    Ok(Some(count)) => break Ok(count),
                    Err(error) => break Err(error),
                }
            },
        };
        matches!(outcome, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// Those of the socket; `TimedOut` at the deadline.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return self.wire.send(bytes, &mut 0).await };
        tls.encrypt(bytes)?;
        self.wire.flush(tls).await
    }
}

impl Wire {
    /// Reads for an encrypted connection that has processed everything received; 0 when the peer
    /// has closed.
    async fn fill(&mut self, tls: &mut Encryption) -> io::Result<usize> {
        let count = self.receive(tls.room()).await?;
        tls.arrived(count);
        Ok(count)
    }

    /// Sends all pending bytes.
    async fn flush(&mut self, tls: &mut Encryption) -> io::Result<()> {
        let (outgoing, sent) = tls.outgoing()?;
        if *sent == outgoing.len() { Ok(()) } else { self.send(outgoing, sent).await }
    }

    /// Reads available data; `WouldBlock` when there is none.
    fn receive_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let registration = match &self.waiting {
            Waiting::Reactor(registration) if !registration.is_readable() => {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Waiting::Reactor(registration) => Some(registration),
            Waiting::Blocking | Waiting::Patient(_) => None,
        };
        let received = recv(&*self.socket, buffer, RecvFlags::DONTWAIT);
        if let (Some(registration), Err(Errno::WOULDBLOCK)) = (registration, received) {
            registration.clear_readable();
        }
        Ok(received?.0)
    }

    async fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|_| {
            self.before_blocking()?;
            if let Waiting::Reactor(registration) = &self.waiting
                && !registration.is_readable()
            {
                return self.pend(registration);
            }
            loop {
                match (&*self.socket).read(buffer) {
                    Ok(count) => {
                        // A short read has emptied the socket, so the next one would find nothing
                        // and is not tried.
                        if let Waiting::Reactor(registration) = &self.waiting
                            && count < buffer.len()
                        {
                            registration.clear_readable();
                        }
                        return Poll::Ready(Ok(count));
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if let Waiting::Reactor(registration) = &self.waiting {
                            registration.clear_readable();
                            return self.pend(registration);
                        }
                        self.block_again()?;
                    }
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        })
        .await
    }

    /// Sends all bytes and updates `sent` meanwhile, because the future may be dropped before its
    /// end.
    async fn send(&mut self, bytes: &[u8], sent: &mut usize) -> io::Result<()> {
        if let Waiting::Patient(waiting) = &mut self.waiting {
            waiting.ask();
        }
        poll_fn(|_| {
            self.before_blocking()?;
            while *sent < bytes.len() {
                match (&*self.socket).write(&bytes[*sent..]) {
                    Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Ok(count) => *sent += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if let Waiting::Reactor(registration) = &self.waiting {
                            registration.watch_writes(true)?;
                            return self.pend(registration).map_ok(|_: usize| ());
                        }
                        self.block_again()?;
                    }
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            if let Waiting::Reactor(registration) = &self.waiting {
                registration.watch_writes(false)?;
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// Makes sure that the task is woken at the deadline and pends, or fails when it has passed.
    fn pend<T>(&self, registration: &Registration) -> Poll<io::Result<T>> {
        if let Some(deadline) = self.deadline {
            let now = Instant::now();
            if now >= deadline {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            // A timer that fires before the deadline polls this again, which then sets a later one.
            if self.armed.get().is_none_or(|armed| armed <= now || armed > deadline) {
                registration.wake_at(deadline);
                self.armed.set(Some(deadline));
            }
        }
        Poll::Pending
    }

    /// A blocking socket implements the deadline with its own timeouts; with [`Waiting::Patient`]
    /// these are short.
    fn before_blocking(&self) -> io::Result<()> {
        let moment = match self.waiting {
            Waiting::Reactor(_) => return Ok(()),
            Waiting::Blocking => None,
            Waiting::Patient(_) => Some(CHECK_INTERVAL),
        };
        let remaining =
            self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if remaining.is_some_and(|remaining| remaining.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Some(timeout) = moment.into_iter().chain(remaining).min() {
            self.socket.set_read_timeout(Some(timeout))?;
            self.socket.set_write_timeout(Some(timeout))?;
        }
        Ok(())
    }

    /// The timeout of a blocking socket has passed: fails when the wait is over.
    fn block_again(&mut self) -> io::Result<()> {
        let Waiting::Patient(waiting) = &mut self.waiting else {
            return Err(io::ErrorKind::TimedOut.into());
        };
        waiting.check().map_err(timed_out)?;
        self.before_blocking()
    }
}

/// Starts connecting a non-blocking socket; true when that is in progress.
fn begin_to_connect(socket: &Socket, address: &SockAddr) -> io::Result<bool> {
    match socket.connect(address) {
        Ok(()) => Ok(false),
        // EINPROGRESS has no stable ErrorKind; 115 on Linux.
        Err(error) if error.raw_os_error() == Some(115) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Connects a socket, which blocks afterwards.
fn connect_with_timeout(
    socket: &Socket,
    address: &SockAddr,
    waiting: &mut timeout::Waiting,
    deadline: Instant,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    if begin_to_connect(socket, address)? {
        loop {
            let moment = CHECK_INTERVAL.min(deadline.saturating_duration_since(Instant::now()));
            let moment = Timespec::try_from(moment).expect("a moment is short");
            match poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&moment)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            waiting.check().map_err(timed_out)?;
        }
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
    }
    socket.set_nonblocking(false)
}

fn timed_out(reason: TimedOut) -> io::Error {
    let kind = match reason {
        TimedOut::Interrupted => io::ErrorKind::Other,
        TimedOut::Late { .. } | TimedOut::Unhealthy { .. } => io::ErrorKind::TimedOut,
    };
    io::Error::new(kind, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Executor, Reactor};
    use std::os::unix::net::{UnixListener, UnixStream};

    /// A client on a unix socket that writes and waits for a byte; its reactor, executor and peer.
    fn asking(bytes: usize) -> (Reactor, Executor, UnixStream) {
        let folder =
            std::env::temp_dir().join(format!("dyno-stream-{}-{bytes}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let reactor = Reactor::new().unwrap();
        let (io, endpoint) = (Io::Reactor(reactor.clone()), Endpoint::Unix(path));
        let mut executor = Executor::new(reactor.clone());
        executor.spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(60);
            let mut stream = Stream::connect(&endpoint, &io, deadline).await.ok().unwrap();
            stream.write_all(&vec![1; bytes]).await.unwrap();
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 1);
        });
        executor.turn(Duration::ZERO).unwrap();
        let (peer, _) = listener.accept().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        (reactor, executor, peer)
    }

    #[test]
    fn reads_by_the_peer_do_not_wake_a_client_that_waits_for_its_answer() {
        let (reactor, mut executor, mut peer) = asking(5);
        executor.turn(Duration::ZERO).unwrap();
        let _ = reactor.take_counters();
        peer.read_exact(&mut [0; 5]).unwrap();
        executor.turn(Duration::ZERO).unwrap();
        assert_eq!(reactor.take_counters().ready, 0);
        peer.write_all(&[1]).unwrap();
        executor.turn(Duration::from_secs(60)).unwrap();
        assert_eq!((reactor.take_counters().ready, executor.alive()), (1, 0));
    }

    #[test]
    fn a_partial_write_continues_when_the_peer_has_read() {
        let (_reactor, mut executor, mut peer) = asking(8 << 20);
        let reader = std::thread::spawn(move || {
            peer.read_exact(&mut vec![0; 8 << 20]).unwrap();
            peer.write_all(&[1]).unwrap();
        });
        while executor.alive() > 0 {
            executor.turn(Duration::from_secs(60)).unwrap();
        }
        reader.join().unwrap();
    }
}
