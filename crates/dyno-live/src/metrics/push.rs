//! Sends the metrics to a collector of OpenTelemetry, from a thread of its own.

use super::collected::{Collected, collect};
use super::otlp;
use crate::live::Live;
use dyno_model::event::{Event, Listener};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time between two requests.
const SENT_EVERY: Duration = Duration::from_secs(5);

/// Maximum time to connect, and for each read and write.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of a response that are read.
const RESPONSE_MAX: u64 = 4 << 10;

/// The address of a collector that receives OTLP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    host: String,
    path: String,
}

impl FromStr for Collector {
    type Err = String;

    /// Parses `http://HOST[:PORT][/PATH]`. The default port is 4318, the default path
    /// `/v1/metrics`.
    fn from_str(url: &str) -> Result<Self, String> {
        let rest = url.strip_prefix("http://").ok_or(
            "it must begin with http://; encryption is not supported, so use a collector on this \
             machine to forward metrics",
        )?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || host.contains('@') || !is_visible(rest) {
            return Err("it needs a host, and no user, password or blank".to_owned());
        }
        // The colons of an IPv6 address are in brackets.
        let name_end = host.rfind(']').unwrap_or(0);
        let host = match host[name_end..].split_once(':') {
            None => format!("{host}:4318"),
            Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => host.to_owned(),
            Some((_, port)) => return Err(format!("'{port}' is not a port")),
        };
        let path = if path.len() > 1 { path } else { "/v1/metrics" };
        Ok(Self { host, path: path.to_owned() })
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.host, self.path)
    }
}

impl Collector {
    /// Sends a request and returns the error if it was not accepted.
    fn send(&self, body: &str) -> io::Result<()> {
        let mut addresses = self.host.to_socket_addrs()?;
        let address = addresses.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let Self { host, path } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes())?;
        let (mut head, mut byte) = (Vec::new(), [0]);
        let mut response = io::BufReader::new(stream).take(RESPONSE_MAX);
        while !head.ends_with(b"\r\n") && response.read(&mut byte)? > 0 {
            head.push(byte[0]);
        }
        let status = String::from_utf8_lossy(&head).split(' ').nth(1).map(str::to_owned);
        match status.as_deref() {
            Some("200") => Ok(()),
            Some(status) => Err(io::Error::other(format!("it answers with status {status}"))),
            None => Err(io::Error::other("it does not answer in HTTP")),
        }
    }
}

/// Sends the metrics until it is dropped, and then for the last time. As a listener, which comes
/// after the state, it also sends those of each trial that ends, before the next one replaces them.
#[derive(Debug)]
pub struct Push {
    live: Live,
    /// The metrics of ended trials; closed when the run ends.
    ended: Option<Sender<Vec<Collected>>>,
    thread: Option<JoinHandle<()>>,
}

impl Push {
    /// Starts to send. `failed` receives the first error of a series of failures.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        live: Live,
        collector: Collector,
        failed: impl Fn(&Live, &str) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, ended) = channel();
        let unix = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (started, shared) = (unix(), live.clone());
        let send = move || {
            let mut has_failed = false;
            loop {
                let next = ended.recv_timeout(SENT_EVERY);
                let is_last = next == Err(RecvTimeoutError::Disconnected);
                let metrics = next.unwrap_or_else(|_| live.read(collect));
                let sent = collector.send(&otlp::request(&metrics, started, unix()));
                if let Err(error) = &sent
                    && !has_failed
                {
                    failed(&live, &format!("{collector}: {error}"));
                }
                has_failed = sent.is_err();
                if is_last {
                    return;
                }
            }
        };
        // The first request does not wait.
        let _ = sender.send(shared.read(collect));
        let thread = thread::Builder::new().name("dyno-otlp".to_owned()).spawn(send)?;
        Ok(Self { live: shared, ended: Some(sender), thread: Some(thread) })
    }
}

impl Listener for Push {
    fn event(&mut self, event: &Event) {
        if let (Event::TrialFinished(_) | Event::TrialFailed { .. }, Some(sender)) =
            (event, &self.ended)
        {
            let _ = sender.send(self.live.read(collect));
        }
    }
}

impl Drop for Push {
    fn drop(&mut self) {
        self.ended.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
