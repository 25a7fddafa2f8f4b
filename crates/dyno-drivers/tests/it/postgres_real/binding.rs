//! Channel binding, direct TLS, several hosts and protocol versions, with a real server and with
//! somebody in between.

use super::server::{connect, first, server};
use crate::encrypted_peer::configuration;
use dyno_drivers::postgres::Connection;
use dyno_drivers::{Driver, block_on};
use dyno_model::engine::Engine;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{ChannelBinding, ConnectionOptions, Endpoint, ServerState, Target, Tls};
use rustls::{ClientConnection, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// The request for TLS.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Somebody in between who decrypts, with a certificate that `sslmode=require` accepts, and
/// forwards the login to the real server after a change of each of the server's answers.
fn in_between(port: u16, change: impl Fn(Vec<u8>) -> Vec<u8> + Send + 'static) -> Endpoint {
    let accepted = configuration("other");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut request = [0; 8];
        client.read_exact(&mut request).unwrap();
        assert_eq!(request, TLS_REQUEST);
        client.write_all(b"S").unwrap();
        server.write_all(&TLS_REQUEST).unwrap();
        server.read_exact(&mut [0]).unwrap();
        let forwarded =
            dyno_drivers::transport::client_configuration(&Tls::Required, None).unwrap().unwrap();
        let name = "localhost".try_into().unwrap();
        let session = ClientConnection::new(forwarded, name).unwrap();
        let mut server = StreamOwned::new(session, server);
        let session = ServerConnection::new(accepted).unwrap();
        let mut client = StreamOwned::new(session, client);
        let mut buffer = [0; 4096];
        // A login is a dialogue. An answer may arrive in several parts.
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            server.write_all(&buffer[..count]).unwrap();
            let mut answer = Vec::new();
            while !is_complete(&answer) {
                let Ok(count @ 1..) = server.read(&mut buffer) else { return };
                answer.extend_from_slice(&buffer[..count]);
            }
            if client.write_all(&change(answer)).is_err() {
                return;
            }
        }
    });
    Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: own }
}

/// True when the last message is one after which the server waits or has closed the connection:
/// SASL begins or continues, ready for a statement, an error of the login.
fn is_complete(mut answer: &[u8]) -> bool {
    while let [tag, a, b, c, d, body @ ..] = answer {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize - 4;
        let Some((body, rest)) = body.split_at_checked(length) else { return false };
        if rest.is_empty() {
            let is_asking = body.starts_with(&[0, 0, 0, 10]) || body.starts_with(&[0, 0, 0, 11]);
            return matches!(tag, b'Z' | b'E') || *tag == b'R' && is_asking;
        }
        answer = rest;
    }
    false
}

/// The offer of SCRAM without the mechanism that is bound to the certificate.
fn without_plus(answer: Vec<u8>) -> Vec<u8> {
    let offer = b"R\0\0\0\x2a\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    match answer.strip_prefix(&offer[..]) {
        Some(rest) => [&b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"[..], rest].concat(),
        None => answer,
    }
}

fn options(change: impl FnOnce(&mut ConnectionOptions)) -> Box<ConnectionOptions> {
    let mut options = Box::default();
    change(&mut options);
    options
}

fn refusal(target: &Target) -> OperationFailure {
    connect(target).err().unwrap_or_else(|| panic!("{} was let in", target.user))
}

#[test]
fn a_login_is_bound_to_the_certificate_of_the_server() {
    let Some(server) = server() else { return };
    let bound = |user: &str, tls: Tls| Target {
        tls,
        options: options(|it| it.channel_binding = ChannelBinding::Require),
        ..server.target(user)
    };
    for tls in [Tls::Required, server.verified()] {
        let mut connection = connect(&bound("encrypted", tls)).unwrap();
        assert_eq!(first(&mut connection, "SELECT current_user"), "encrypted");
    }
    for (target, reason) in [
        (bound("scram", Tls::Off), "not encrypted"),
        // These methods would accept the password, or need none.
        (bound("plain", Tls::Required), "did not ask for a SCRAM login"),
        (bound("hashed", Tls::Required), "did not ask for a SCRAM login"),
        (bound("trusted", Tls::Required), "did not ask for a SCRAM login"),
    ] {
        let failure = refusal(&target);
        assert_eq!(failure.kind, FailureKind::Authentication);
        assert!(failure.message.contains(reason), "{failure}");
    }
}

#[test]
fn man_in_the_middle_cannot_forward_login_with_channel_binding() {
    let Some(server) = server() else { return };
    let through = |binding: ChannelBinding, change: fn(Vec<u8>) -> Vec<u8>| Target {
        endpoint: in_between(server.port, change),
        tls: Tls::Required,
        options: options(|it| it.channel_binding = binding),
        ..server.target("encrypted")
    };
    // A session of the real server, which has the same name, is not offered to another one.
    drop(connect(&Target { tls: Tls::Required, ..server.target("encrypted") }).unwrap());
    let mut accepted = connect(&through(ChannelBinding::Disable, |answer| answer)).unwrap();
    assert_eq!(first(&mut accepted, "SELECT current_user"), "encrypted");
    for (binding, change, reason) in [
        // The server finds a hash of another certificate.
        (ChannelBinding::Prefer, (|answer| answer) as fn(_) -> _, "channel binding"),
        // The client says that it supports binding, and the server that it offered it.
        (ChannelBinding::Prefer, without_plus, "channel binding"),
        (ChannelBinding::Require, without_plus, "does not offer SCRAM-SHA-256-PLUS"),
    ] {
        let failure = refusal(&through(binding, change));
        assert!(failure.message.contains(reason), "{binding:?}: {failure}");
    }
}

/// The major version of the server.
fn major(connection: &Connection) -> u32 {
    connection.identity().version.split('.').next().unwrap().parse().unwrap()
}

#[test]
fn direct_tls_is_used_from_postgresql_17_on_and_refused_before() {
    let Some(server) = server() else { return };
    let is_supported = major(&server.admin()) >= 17;
    for tls in [Tls::Required, server.verified()] {
        let direct = Target {
            tls,
            options: options(|it| it.has_direct_tls = true),
            ..server.target("encrypted")
        };
        match connect(&direct) {
            Ok(mut connection) if is_supported => {
                let question = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
                assert_eq!(first(&mut connection, question), "t");
            }
            Err(failure) if !is_supported => assert!(
                matches!(failure.kind, FailureKind::Certificate | FailureKind::ConnectionLost),
                "{failure}"
            ),
            other => panic!("{:?}", other.err()),
        }
    }
}

#[test]
fn direct_tls_sends_nothing_unless_the_protocol_is_confirmed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = std::thread::spawn(move || {
        let session = ServerConnection::new(configuration("other")).unwrap();
        let mut client = StreamOwned::new(session, listener.accept().unwrap().0);
        let mut received = Vec::new();
        let _ = client.read_to_end(&mut received);
        received
    });
    let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
    let target = Target { tls: Tls::Required, ..Target::new(Engine::Postgres, endpoint) };
    let failure = refusal(&Target { options: options(|it| it.has_direct_tls = true), ..target });
    assert_eq!(failure.kind, FailureKind::Unsupported, "{failure}");
    assert!(failure.message.contains("did not confirm PostgreSQL's protocol"), "{failure}");
    assert_eq!(received.join().unwrap(), b"");
}

#[test]
fn every_server_accepts_the_offer_of_protocol_3_2() {
    let Some(server) = server() else { return };
    for tls in [Tls::Off, Tls::Required] {
        let target = Target {
            tls,
            options: options(|it| it.offers_protocol_3_2 = true),
            ..server.target("scram")
        };
        let mut connection = connect(&target).unwrap();
        let process = connection.backend_process().to_string();
        assert_eq!(first(&mut connection, "SELECT pg_backend_pid()"), process);
    }
}

#[test]
fn hosts_are_tried_in_order_until_one_is_in_the_wanted_state() {
    let Some(server) = server() else { return };
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() }
    };
    let here = server.target("trusted");
    let list = |wanted_state| Target {
        endpoint: closed.clone(),
        options: options(|it| {
            it.alternatives = vec![here.endpoint.clone()];
            it.wanted_state = wanted_state;
        }),
        ..here.clone()
    };
    for state in
        [ServerState::Any, ServerState::ReadWrite, ServerState::Primary, ServerState::PreferStandby]
    {
        block_on(connect(&list(state)).unwrap().close());
    }
    for state in [ServerState::ReadOnly, ServerState::Standby] {
        let failure = refusal(&list(state));
        assert_eq!(failure.kind, FailureKind::NotReady, "{failure}");
        assert!(failure.message.contains(state.name()), "{failure}");
    }
    // An account that the server rejects is not tried at the next.
    let rejected = Target {
        endpoint: here.endpoint.clone(),
        options: options(|it| it.alternatives = vec![closed.clone()]),
        ..server.target("refused")
    };
    assert_eq!(refusal(&rejected).kind, FailureKind::Authentication);
}
