//! A fault proxy: a network path to a server that can be cut silently. The proxy on 127.0.0.1
//! forwards everything while it is open.
//!
//! While it is closed, nothing is read, nothing is forwarded (not even the end of a connection),
//! and no connection is accepted: both sides see what they would see of a pulled cable, which is
//! nothing. Data sent meanwhile arrives when the proxy is open again, like TCP retransmissions. It
//! runs in dyno's own threads, two for each connection, and so ends with dyno.

use crate::error::HostError;
use dyno_model::sync::lock;
use dyno_model::target::{Endpoint, Target};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Size of the copy buffer in bytes.
const ROOM: usize = 16 * 1024;
/// Pause in accepting connections when no more can be opened.
const PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of bytes read from a client that connected while the proxy was closed, to find
/// out whether it has gone.
const LEFT_MAX: usize = 64 * 1024;

/// A network path to a server that can be cut. Dropping it closes all its connections.
pub struct FaultProxy {
    target: Target,
    inner: Arc<Inner>,
    /// Its listening address.
    address: SocketAddr,
    doorkeeper: Option<JoinHandle<()>>,
}

struct Inner {
    /// `HOST:PORT` of the server.
    server: (String, u16),
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_shut: bool,
    /// It was closed at least once. A client that connected then may be accepted only when the
    /// proxy is open again.
    was_shut: bool,
    is_over: bool,
    /// Both ends of each connection, for closing them at the end.
    streams: Vec<Weak<TcpStream>>,
}

impl FaultProxy {
    /// Opens a proxy to a server.
    ///
    /// # Errors
    /// When the server does not listen on TCP, or no port or thread is available.
    pub fn to(server: &Target) -> Result<Self, HostError> {
        let Endpoint::Tcp { host, port } = &server.endpoint else {
            return Err(HostError::new(format!(
                "a fault proxy needs a server that listens on TCP, but this one is at {}",
                server.endpoint
            )));
        };
        let failed =
            |error: io::Error| HostError::new(format!("cannot start a fault proxy: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let inner = Arc::new(Inner {
            server: (host.clone(), *port),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let proxy = Arc::clone(&inner);
        let doorkeeper =
            thread::Builder::new().name("gate".to_owned()).spawn(move || proxy.keep(&listener));
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let target = Target { detour: Some(endpoint), ..server.clone() };
        Ok(Self { target, inner, address, doorkeeper: Some(doorkeeper.map_err(failed)?) })
    }

    /// The server as a target that goes through the proxy.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Cuts the network path.
    pub fn shut(&self) {
        self.inner.note(|state| (state.is_shut, state.was_shut) = (true, true));
    }

    /// Restores the network path; true when it was cut.
    pub fn reopen(&self) -> bool {
        self.inner.note(|state| std::mem::take(&mut state.is_shut))
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        let streams = self.inner.note(|state| {
            state.is_over = true;
            std::mem::take(&mut state.streams)
        });
        for stream in streams.iter().filter_map(Weak::upgrade) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts clients.
        let _ = TcpStream::connect(self.address);
        if let Some(doorkeeper) = self.doorkeeper.take() {
            let _ = doorkeeper.join();
        }
    }
}

impl Inner {
    fn note<T>(&self, note: impl FnOnce(&mut State) -> T) -> T {
        let noted = note(&mut lock(&self.state));
        self.changed.notify_all();
        noted
    }

    /// Waits while the proxy is closed; true when it was closed at least once. `None` when the
    /// proxy has ended.
    fn pass(&self) -> Option<bool> {
        let mut state = lock(&self.state);
        while state.is_shut && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.is_over).then_some(state.was_shut)
    }

    /// Accepts clients until the proxy ends.
    fn keep(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let taken = listener.accept();
            let Some(was_shut) = self.pass() else { return };
            match taken {
                Ok((client, _)) => {
                    let _ = self.join(client, was_shut);
                }
                // No descriptor is available, so the client waits.
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Connects a client to the server. An error closes its connection.
    fn join(self: &Arc<Self>, client: TcpStream, was_shut: bool) -> io::Result<()> {
        let first = if was_shut { waiting(&client)? } else { Some(Vec::new()) };
        let Some(first) = first else { return Ok(()) };
        let mut server = TcpStream::connect((self.server.0.as_str(), self.server.1))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        server.write_all(&first)?;
        let (client, server) = (Arc::new(client), Arc::new(server));
        let is_over = self.note(|state| {
            state.streams.retain(|stream| stream.strong_count() > 0);
            state.streams.extend([&client, &server].map(Arc::downgrade));
            state.is_over
        });
        if is_over {
            return Ok(());
        }
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (inner, from, to) = (Arc::clone(self), Arc::clone(from), Arc::clone(to));
            thread::Builder::new()
                .name("gate".to_owned())
                .spawn(move || inner.carry(&from, &to))?;
        }
        Ok(())
    }

    /// Forwards data, and the end of it; the end of either side ends the connection.
    fn carry(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut buffer = vec![0; ROOM];
        loop {
            let read = match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            if self.pass().is_none() || read == 0 || to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
}

/// The data sent by a client that connected while the proxy was closed; `None` when it has
/// disconnected again: the server would never have seen it.
fn waiting(mut client: &TcpStream) -> io::Result<Option<Vec<u8>>> {
    client.set_nonblocking(true)?;
    let mut sent = Vec::new();
    let mut buffer = vec![0; ROOM];
    let is_there = loop {
        match client.read(&mut buffer) {
            Ok(0) => break false,
            Ok(read) => sent.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
        }
        if sent.len() > LEFT_MAX {
            break true;
        }
    };
    client.set_nonblocking(false)?;
    Ok(is_there.then_some(sent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Engine;

    fn fault_proxy(listener: &TcpListener) -> FaultProxy {
        let address = listener.local_addr().unwrap();
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        FaultProxy::to(&Target::new(Engine::Http, endpoint)).unwrap()
    }

    fn server() -> TcpListener {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
    }

    /// True when no data is available without waiting.
    fn is_silent(stream: &TcpStream) -> bool {
        stream.set_nonblocking(true).unwrap();
        let read = (&*stream).read(&mut [0; 1]);
        stream.set_nonblocking(false).unwrap();
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    fn received(mut stream: &TcpStream, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn data_sent_while_the_proxy_is_closed_arrives_when_it_is_open_again() {
        let listener = server();
        let fault_proxy = fault_proxy(&listener);
        let mut client = TcpStream::connect(fault_proxy.address).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"one").unwrap();
        assert_eq!(received(&server, 3), b"one");
        server.write_all(b"two").unwrap();
        assert_eq!(received(&client, 3), b"two");

        fault_proxy.shut();
        client.write_all(b"three").unwrap();
        server.write_all(b"four").unwrap();
        // Absence of data cannot be proved; what is checked is that the thread holds the data back.
        assert!(is_silent(&server) && is_silent(&client));
        assert!(fault_proxy.reopen() && !fault_proxy.reopen());
        assert_eq!(received(&server, 5), b"three");
        assert_eq!(received(&client, 4), b"four");
        drop(client);
        assert_eq!(server.read(&mut [0; 1]).unwrap(), 0, "the end is passed on too");
    }

    #[test]
    fn client_that_left_before_proxy_reopens_never_reaches_server() {
        let listener = server();
        let fault_proxy = fault_proxy(&listener);
        fault_proxy.shut();
        let mut gone = TcpStream::connect(fault_proxy.address).unwrap();
        gone.write_all(b"gone").unwrap();
        drop(gone);
        let mut patient = TcpStream::connect(fault_proxy.address).unwrap();
        patient.write_all(b"here").unwrap();
        fault_proxy.reopen();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(received(&server, 4), b"here");
    }

    #[test]
    fn dropping_a_closed_proxy_closes_its_connections_and_its_port() {
        let listener = server();
        let fault_proxy = fault_proxy(&listener);
        let mut client = TcpStream::connect(fault_proxy.address).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        fault_proxy.shut();
        let address = fault_proxy.address;
        drop(fault_proxy);
        assert_eq!(client.read(&mut [0; 1]).unwrap_or(0), 0);
        assert_eq!(server.read(&mut [0; 1]).unwrap_or(0), 0);
        assert!(TcpStream::connect(address).is_err());
    }
}
