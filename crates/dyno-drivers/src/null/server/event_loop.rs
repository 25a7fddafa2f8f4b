//! Sockets of a null server: one epoll, edge-triggered, on one thread.

use super::conversation::{Conversation, ServerCounters, Shared, Stop, add};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the stop flag is checked while nothing happens.
const FLAG_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum number of connections waiting to be accepted; the kernel limits it to
/// `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Number of bytes per read. A read that returns fewer has emptied the socket.
const READ_SIZE: usize = 64 * 1024;

/// Only skipped messages may be longer than this; MySQL's packets cannot exceed 16 MiB.
pub(super) const MESSAGE_MAX: usize = 64 * 1024 * 1024;

const EVENTS_PER_WAIT: usize = 1024;
const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// A listening socket and its connections.
pub(super) struct EventLoop<S> {
    poll: Poll,
    waker: Arc<Waker>,
    listener: TcpListener,
    /// By token; free slots are reused.
    peers: Vec<Option<Peer<S>>>,
    free: Vec<usize>,
    /// Peers with more to read than one turn processes.
    unfinished: Vec<usize>,
    /// Accepting failed for lack of descriptors and must be retried, because it is not reported
    /// again.
    is_accept_due: bool,
    shared: Shared,
    buffer: Box<[u8]>,
    out: Vec<u8>,
}

struct Peer<S> {
    socket: TcpStream,
    session: S,
    /// The start of an incomplete message.
    partial: Vec<u8>,
    /// Replies that the socket did not accept. Nothing is read until they are sent.
    unsent: Vec<u8>,
    stop: Option<Stop>,
}

/// What to do with a peer after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Wait,
    ReadOn,
    Close,
}

impl<S: Conversation> EventLoop<S> {
    pub(super) fn bind(address: SocketAddr, shared: Shared) -> io::Result<(Self, SocketAddr)> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from(socket);
        let local_addr = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry().register(
            &mut SourceFd(&listener.as_raw_fd()),
            LISTENER,
            Interest::READABLE,
        )?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let event_loop = Self {
            poll,
            waker,
            listener,
            peers: Vec::new(),
            free: Vec::new(),
            unfinished: Vec::new(),
            is_accept_due: false,
            shared,
            buffer: vec![0; READ_SIZE].into_boxed_slice(),
            out: Vec::with_capacity(READ_SIZE),
        };
        Ok((event_loop, local_addr))
    }

    pub(super) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    pub(super) fn run_until(mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_PER_WAIT);
        while !stop.load(Ordering::Acquire) {
            let wait = if self.unfinished.is_empty() { FLAG_INTERVAL } else { Duration::ZERO };
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                Ok(()) | Err(_) => {}
            }
            for slot in std::mem::take(&mut self.unfinished) {
                self.serve(slot);
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.is_accept_due = true,
                    WAKER => {}
                    Token(slot) => self.serve(slot),
                }
            }
            if self.is_accept_due {
                self.accept();
            }
        }
        Ok(())
    }

    /// Accepts all waiting connections.
    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                // `admit` fails for a client that has already disconnected, which affects no other.
                Ok((socket, _)) => drop(self.admit(socket)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_accept_due = false;
                    return;
                }
                Err(error) if is_gone(&error) => {}
                // Out of descriptors: retried after the next turn, when a connection may have been
                // closed.
                Err(_) => return,
            }
        }
    }

    fn admit(&mut self, socket: TcpStream) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.peers.push(None);
            self.peers.len() - 1
        });
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        if let Err(error) =
            registry.register(&mut SourceFd(&socket.as_raw_fd()), Token(slot), interest)
        {
            self.free.push(slot);
            return Err(error);
        }
        let counters: &ServerCounters = &self.shared.counts;
        add(&counters.connections, 1);
        let session = S::new(counters.connections() as u32);
        let mut peer =
            Peer { socket, session, partial: Vec::new(), unsent: Vec::new(), stop: None };
        if !self.shared.options.is_silent {
            peer.session.greet(&self.shared, &mut peer.unsent);
        }
        self.peers[slot] = Some(peer);
        self.serve(slot);
        Ok(())
    }

    fn serve(&mut self, slot: usize) {
        let Some(Some(peer)) = self.peers.get_mut(slot) else { return };
        match peer.turn(&self.shared, &mut self.buffer, &mut self.out) {
            After::Wait => {}
            After::ReadOn => self.unfinished.push(slot),
            After::Close => {
                // Closing the socket removes it from the epoll set.
                self.peers[slot] = None;
                self.free.push(slot);
            }
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

impl<S: Conversation> Peer<S> {
    /// Sends what is left, reads once, answers.
    fn turn(&mut self, shared: &Shared, buffer: &mut [u8], out: &mut Vec<u8>) -> After {
        if !self.unsent.is_empty() {
            let mut unsent = std::mem::take(&mut self.unsent);
            match send(&mut self.socket, &unsent) {
                Ok(sent) => drop(unsent.drain(..sent)),
                Err(_) => return After::Close,
            }
            if !unsent.is_empty() {
                self.unsent = unsent;
                return After::Wait;
            }
            if self.stop == Some(Stop::HangUp) {
                return After::Close;
            }
        }
        let count = loop {
            match self.socket.read(buffer) {
                Ok(0) => return After::Close,
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return After::Wait,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return After::Close,
            }
        };
        out.clear();
        if !shared.options.is_silent && self.stop.is_none() {
            self.answer(&buffer[..count], shared, out);
        }
        let Ok(sent) = send(&mut self.socket, out) else { return After::Close };
        self.unsent.extend_from_slice(&out[sent..]);
        if !self.unsent.is_empty() {
            After::Wait
        } else if self.stop == Some(Stop::HangUp) {
            After::Close
        } else if count == buffer.len() {
            After::ReadOn
        } else {
            After::Wait
        }
    }

    fn answer(&mut self, received: &[u8], shared: &Shared, out: &mut Vec<u8>) {
        let fed = if self.partial.is_empty() {
            let fed = self.session.feed(received, shared, out);
            self.partial.extend_from_slice(&received[fed.consumed..]);
            fed
        } else {
            self.partial.extend_from_slice(received);
            let fed = self.session.feed(&self.partial, shared, out);
            self.partial.drain(..fed.consumed);
            fed
        };
        // Long messages are rare; thousands of connections must not each keep a large buffer.
        if fed.consumed > 0 && self.partial.is_empty() && self.partial.capacity() > READ_SIZE {
            self.partial = Vec::new();
        }
        self.stop = fed.stop.or((self.partial.len() > MESSAGE_MAX).then_some(Stop::HangUp));
    }
}

/// Sends as much as the socket accepts.
fn send(socket: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        match socket.write(&bytes[sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
