//! Encrypted connections with a scripted peer: everything a server may send, in pieces of any size.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that calls it")]

use dyno_drivers::http::{self, Exchange};
use dyno_drivers::transport::{Executor, Reactor, Stream, client_configuration};
use dyno_drivers::{Connection, Driver, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target, Tls};
use rustls::ServerConnection;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Longer than any test should wait.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The configuration of a server with a certificate of its own for this name.
pub(crate) fn configuration(name: &str) -> Arc<rustls::ServerConfig> {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let configuration = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key);
    Arc::new(configuration.unwrap())
}

/// A peer that performs the handshake and then follows the script. Returns its port.
fn peer(script: impl FnOnce(ServerConnection, &mut TcpStream) + Send + 'static) -> u16 {
    let configuration = configuration("peer");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut session = ServerConnection::new(configuration).unwrap();
        session.set_buffer_limit(None);
        while session.is_handshaking() {
            session.complete_io(&mut socket).unwrap();
        }
        script(session, &mut socket);
        // Until the other side has closed.
        let _ = socket.read_to_end(&mut Vec::new());
    });
    port
}

/// Encrypts texts, each as a separate write, and a close notification.
fn encrypted<'a>(
    session: &mut ServerConnection,
    texts: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in texts {
        session.writer().write_all(text).unwrap();
        bytes.extend(drained(session));
    }
    session.send_close_notify();
    bytes.extend(drained(session));
    bytes
}

/// The bytes that the session has to send.
fn drained(session: &mut ServerConnection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut bytes).unwrap();
    }
    bytes
}

async fn connect(port: u16, io: &Io) -> Stream {
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    let deadline = Instant::now() + TIMEOUT;
    let mut stream = Stream::connect(&endpoint, io, deadline).await.unwrap();
    stream.set_deadline(Some(deadline));
    let configuration = client_configuration(&Tls::Required, None).unwrap().unwrap();
    stream.start_tls(configuration, "peer").await.unwrap();
    stream
}

/// Everything up to the peer's close notification, read in pieces of this size.
async fn read_all(stream: &mut Stream, piece: usize) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; piece]);
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => return all,
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Runs a client on an event loop.
fn on_event_loop<T: 'static>(client: impl AsyncFnOnce(Io) -> T + 'static) -> T {
    let reactor = Reactor::new().unwrap();
    let mut executor = Executor::new(reactor.clone());
    let result = Rc::new(RefCell::new(None));
    let there = Rc::clone(&result);
    executor.spawn(async move {
        let outcome = client(Io::Reactor(reactor)).await;
        *there.borrow_mut() = Some(outcome);
    });
    let until = Instant::now() + TIMEOUT;
    while executor.alive() > 0 {
        assert!(Instant::now() < until, "the client does not end");
        executor.turn(Duration::from_millis(100)).unwrap();
    }
    result.take().unwrap()
}

/// Polls a future once, which must pend, and drops it.
async fn give_up<T>(future: impl Future<Output = T>) {
    let mut future = pin!(future);
    poll_fn(|context| {
        assert!(future.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 % 251) as u8).collect()
}

#[test]
fn data_after_a_close_notification_is_discarded_without_delay() {
    let client = async |io: Io| {
        let port = peer(|mut session, socket| {
            let mut bytes = encrypted(&mut session, [&b"the last words"[..]]);
            bytes.extend_from_slice(&[0x17; 5_000]);
            socket.write_all(&bytes).unwrap();
        });
        read_all(&mut connect(port, &io).await, 64).await
    };
    assert_eq!(block_on(client(Io::Blocking)), b"the last words");
    assert_eq!(on_event_loop(client), b"the last words");
}

#[test]
fn large_encrypted_answers_are_read_in_pieces_of_any_size() {
    // Records of maximum length, and short ones, many of which arrive with one read.
    for record in [17_000, 700, 40] {
        for piece in [100, 4_096, 65_536] {
            let client = async move |io: Io| {
                let port = peer(move |mut session, socket| {
                    let text = pattern(300_000);
                    socket.write_all(&encrypted(&mut session, text.chunks(record))).unwrap();
                });
                read_all(&mut connect(port, &io).await, piece).await
            };
            let expected = pattern(300_000);
            assert!(
                block_on(client(Io::Blocking)) == expected,
                "records of {record}, pieces of {piece}"
            );
            assert!(on_event_loop(client) == expected, "records of {record}, pieces of {piece}");
        }
    }
}

#[test]
fn a_dropped_read_loses_nothing() {
    let came = on_event_loop(async |io| {
        let (say, reported) = channel();
        let port = peer(move |mut session, socket| {
            reported.recv_timeout(TIMEOUT).unwrap();
            socket.write_all(&encrypted(&mut session, [&b"late"[..]])).unwrap();
        });
        let mut stream = connect(port, &io).await;
        give_up(stream.read(&mut [0; 16])).await;
        say.send(()).unwrap();
        read_all(&mut stream, 16).await
    });
    assert_eq!(came, b"late");
}

#[test]
fn a_dropped_write_is_completed_by_the_next_one() {
    let text = pattern(16 << 20);
    let (came, arrived) = channel();
    let sent = text.clone();
    let length = text.len() + b" and more".len();
    on_event_loop(async move |io| {
        let (say, reported) = channel();
        let port = peer(move |mut session, socket| {
            reported.recv_timeout(TIMEOUT).unwrap();
            let mut read = vec![0; length];
            rustls::Stream::new(&mut session, socket).read_exact(&mut read).unwrap();
            came.send(read).unwrap();
            socket.write_all(&encrypted(&mut session, [])).unwrap();
        });
        let mut stream = connect(port, &io).await;
        // The peer does not read yet, and the buffers cannot hold this much.
        give_up(stream.write_all(&sent)).await;
        say.send(()).unwrap();
        stream.write_all(b" and more").await.unwrap();
        read_all(&mut stream, 16).await
    });
    let read = arrived.recv_timeout(TIMEOUT).unwrap();
    assert!(read == [text, b" and more".to_vec()].concat());
}

/// Reads and ignores a request.
fn hear(session: &mut ServerConnection, socket: &mut TcpStream) {
    let mut request = [0; 64];
    let mut length = 0;
    while !request[..length].ends_with(b"\r\n\r\n") {
        session.complete_io(socket).unwrap();
        length += session.reader().read(&mut request[length..]).unwrap_or(0);
    }
}

/// A service with an encrypted connection.
async fn service(port: u16, io: &Io) -> http::Connection {
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    let target = Target { tls: Tls::Required, ..Target::new(Engine::Http, endpoint) };
    match Connection::connect(&target, io).await.unwrap() {
        Connection::Http(service) => *service,
        _ => panic!("this is a service"),
    }
}

/// Status and body of the answer to a request.
async fn ask(service: &mut http::Connection) -> Result<(u16, Vec<u8>), OperationFailure> {
    let mut body = Vec::new();
    let exchange = Exchange {
        request: b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n",
        is_head: false,
        timeout: TIMEOUT,
        body_max: 100,
        body: Some(&mut body),
        cookies: None,
    };
    Ok((service.exchange(exchange).await?, body))
}

#[test]
fn requests_are_sent_over_an_encrypted_connection() {
    let client = async |io: Io| {
        let port = peer(|mut session, socket| {
            hear(&mut session, socket);
            let texts = [&b"HTTP/1.1 200 OK\r\nContent-Le"[..], b"ngth: 5\r\n\r\nhel", b"lo"];
            socket.write_all(&encrypted(&mut session, texts)).unwrap();
        });
        ask(&mut service(port, &io).await).await
    };
    assert_eq!(block_on(client(Io::Blocking)), Ok((200, b"hello".to_vec())));
    assert_eq!(on_event_loop(client), Ok((200, b"hello".to_vec())));
}

#[test]
fn encrypted_body_without_length_requires_a_close_notify() {
    for has_farewell in [true, false] {
        let client = async move |io: Io| {
            let port = peer(move |mut session, socket| {
                hear(&mut session, socket);
                session.writer().write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").unwrap();
                if has_farewell {
                    session.send_close_notify();
                }
                socket.write_all(&drained(&mut session)).unwrap();
                socket.shutdown(Shutdown::Write).unwrap();
            });
            ask(&mut service(port, &io).await).await.map_err(|failure| failure.kind)
        };
        let expected = if has_farewell {
            Ok((200, b"hello".to_vec()))
        } else {
            Err(FailureKind::ConnectionLost)
        };
        assert_eq!(block_on(client(Io::Blocking)), expected);
        assert_eq!(on_event_loop(client), expected);
    }
}

#[test]
fn a_connection_closed_by_its_service_while_idle_accepts_no_request() {
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let late = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
    // With a close notification, with an unsolicited answer, and silently.
    for way in 0..3 {
        let client = async move |io: Io| {
            let (say, reported) = channel();
            let (renew, renewed) = channel();
            let port = peer(move |mut session, socket| {
                hear(&mut session, socket);
                session.writer().write_all(ok).unwrap();
                socket.write_all(&drained(&mut session)).unwrap();
                reported.recv_timeout(TIMEOUT).unwrap();
                session.refresh_traffic_keys().unwrap();
                socket.write_all(&drained(&mut session)).unwrap();
                renew.send(()).unwrap();
                reported.recv_timeout(TIMEOUT).unwrap();
                match way {
                    0 => session.send_close_notify(),
                    1 => session.writer().write_all(late).unwrap(),
                    _ => socket.shutdown(Shutdown::Write).unwrap(),
                }
                socket.write_all(&drained(&mut session)).unwrap_or(());
            });
            let mut service = service(port, &io).await;
            assert_eq!(ask(&mut service).await, Ok((200, b"hello".to_vec())));
            assert!(service.is_open(), "nothing has come");
            say.send(()).unwrap();
            renewed.recv_timeout(TIMEOUT).unwrap();
            assert!(service.is_open(), "what the session says of itself is no answer");
            say.send(()).unwrap();
            let until = Instant::now() + TIMEOUT;
            while service.is_open() && Instant::now() < until {
                io.sleep(Duration::from_millis(1)).await;
            }
            service.is_open()
        };
        assert!(!block_on(client(Io::Blocking)), "{way}");
        assert!(!on_event_loop(client), "{way}");
    }
}

#[test]
fn unencrypted_connection_closed_while_idle_is_not_open() {
    for last in ["", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"] {
        let client = async move |io: Io| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let endpoint = Endpoint::Tcp {
                host: "127.0.0.1".to_owned(),
                port: listener.local_addr().unwrap().port(),
            };
            let target = Target::new(Engine::Http, endpoint);
            let Connection::Http(mut service) = Connection::connect(&target, &io).await.unwrap()
            else {
                panic!("this is a service");
            };
            let (mut socket, _) = listener.accept().unwrap();
            assert!(service.is_open());
            socket.write_all(last.as_bytes()).unwrap();
            if last.is_empty() {
                socket.shutdown(Shutdown::Write).unwrap();
            }
            let until = Instant::now() + TIMEOUT;
            while service.is_open() && Instant::now() < until {
                io.sleep(Duration::from_millis(1)).await;
            }
            service.is_open()
        };
        assert!(!block_on(client(Io::Blocking)), "{last}");
        assert!(!on_event_loop(client), "{last}");
    }
}
