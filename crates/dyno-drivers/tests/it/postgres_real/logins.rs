//! All methods of login, and all reasons for a rejection.

use super::server::{PASSWORD, connect, first, server};
use dyno_drivers::address::may_want_encryption;
use dyno_drivers::postgres::Connection;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Driver, Executor, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, Target, Tls};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn refusal(target: &Target) -> OperationFailure {
    match connect(target) {
        Ok(_) => panic!("{} was let in", target.user),
        Err(failure) => {
            assert!(!failure.to_string().contains(PASSWORD), "{failure}");
            assert!(!failure.to_string().contains("wr0ng"), "{failure}");
            failure
        }
    }
}

#[test]
fn every_login_method_accepts_the_correct_password() {
    let Some(server) = server() else { return };
    for user in ["trusted", "scram", "hashed", "plain"] {
        let mut connection =
            connect(&server.target(user)).unwrap_or_else(|failure| panic!("{user}: {failure}"));
        assert_eq!(first(&mut connection, "SELECT current_user"), user);
        block_on(connection.close());
    }
}

#[test]
fn a_wrong_password_is_rejected_and_never_repeated() {
    let Some(server) = server() else { return };
    for user in ["scram", "hashed", "plain"] {
        let failure = refusal(&Target { password: Secret::new("wr0ng"), ..server.target(user) });
        assert_eq!(failure.kind, FailureKind::Authentication, "{failure}");
        assert_eq!(failure.sqlstate, "28P01");
        assert!(failure.message.contains(user), "{failure}");
        let failure = refusal(&Target { password: Secret::default(), ..server.target(user) });
        assert_eq!(failure.kind, FailureKind::Authentication, "{failure}");
        assert!(failure.message.contains("none is given"), "{failure}");
    }
}

#[test]
fn rejections_by_the_server_are_classified() {
    let Some(server) = server() else { return };
    let cases = [
        (server.target("refused"), FailureKind::Authentication, "28000"),
        (server.target("nobody"), FailureKind::Authentication, "28000"),
        (server.target("missing"), FailureKind::Authentication, "28000"),
        (server.target("shut"), FailureKind::Authentication, "28000"),
        (server.target("limited"), FailureKind::OutOfConnections, "53300"),
        // The server's rule requires TLS.
        (server.target("encrypted"), FailureKind::Authentication, "28000"),
        (
            Target { database: "nothing".to_owned(), ..server.target("trusted") },
            FailureKind::BadStatement,
            "3D000",
        ),
    ];
    for (target, kind, sqlstate) in cases {
        let failure = refusal(&target);
        assert_eq!((failure.kind, failure.sqlstate.as_str()), (kind, sqlstate), "{failure}");
    }
    // Encryption may help users rejected by the connection rules, and nobody else.
    let may_want = |user: &str| {
        let target = server.target(user);
        may_want_encryption(&refusal(&target), &target)
    };
    assert_eq!(["encrypted", "refused", "nobody"].map(may_want), [true, true, true]);
    assert_eq!(["missing", "limited", "shut"].map(may_want), [false; 3]);
    let failure =
        refusal(&Target { user: "a\0database\0b".to_owned(), ..server.target("trusted") });
    assert!(failure.message.contains("zero byte"), "{failure}");
}

#[test]
fn encrypted_connections_are_encrypted() {
    let Some(server) = server() else { return };
    let question = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    for tls in [Tls::Required, server.verified()] {
        let mut connection = connect(&Target { tls, ..server.target("encrypted") }).unwrap();
        assert_eq!(first(&mut connection, question), "t");
        // More than one TLS record.
        assert_eq!(first(&mut connection, "SELECT repeat('x', 100000)").len(), 100_000);
        // More than a TLS session buffers, in one answer.
        for length in [17_000, 50_000] {
            let sql = format!("SELECT repeat('x', {length}) FROM generate_series(1, 400)");
            let rows = super::server::table(&mut connection, &sql);
            assert_eq!(
                rows.iter()
                    .filter(|row| row[0].as_ref().is_some_and(|text| text.len() == length))
                    .count(),
                400
            );
        }
    }
    assert_eq!(first(&mut connect(&server.target("scram")).unwrap(), question), "f");
}

#[test]
fn a_certificate_must_name_the_server_even_through_a_proxy() {
    let Some(server) = server() else { return };
    let by_detour = |host: &str| {
        let there = Target { tls: server.verified(), ..server.target("encrypted") };
        // Nothing listens on port 1.
        let endpoint = Endpoint::Tcp { host: host.to_owned(), port: 1 };
        Target { detour: Some(there.endpoint), endpoint, ..there }
    };
    assert!(connect(&by_detour("localhost")).is_ok());
    let failure = refusal(&by_detour("elsewhere.invalid"));
    assert!(failure.message.contains("elsewhere.invalid"), "{failure}");
}

#[test]
fn a_client_certificate_is_accepted() {
    let Some(server) = server() else { return };
    let shown = |certificate: &str, key: &str| {
        let (certificate, key) = (server.folder.join(certificate), server.folder.join(key));
        let client_certificate = Some(ClientCertificate { certificate, key });
        Target { tls: server.verified(), client_certificate, ..server.target("shown") }
    };
    let mut connection = connect(&shown("client.pem", "client.key")).unwrap();
    assert_eq!(first(&mut connection, "SELECT current_user"), "shown");
    let without = Target { client_certificate: None, ..shown("", "") };
    let of_another = shown("server.pem", "server.key");
    // The server rejects the account; a key that does not match its certificate is not sent at all.
    for (target, kind) in [
        (without, FailureKind::Authentication),
        (of_another, FailureKind::Authentication),
        (shown("client.pem", "ca.key"), FailureKind::Certificate),
    ] {
        let failure = refusal(&target);
        assert_eq!(failure.kind, kind, "{failure}");
    }
}

#[test]
fn an_unknown_authority_is_not_trusted() {
    let Some(server) = server() else { return };
    let other = server.folder.join("server.pem");
    let failure =
        refusal(&Target { tls: Tls::Verify { ca: Some(other) }, ..server.target("encrypted") });
    assert_eq!(failure.kind, FailureKind::Certificate);
    assert!(failure.message.starts_with("TLS: "), "{failure}");
}

#[test]
fn a_unix_socket_is_accepted_and_has_no_tls() {
    let Some(server) = server() else { return };
    let target = Target { endpoint: server.socket(), ..server.target("scram") };
    let mut connection = connect(&target).unwrap();
    assert_eq!(first(&mut connection, "SELECT inet_client_addr() IS NULL"), "t");
    let failure = refusal(&Target { tls: Tls::Required, ..target });
    assert_eq!(failure.kind, FailureKind::Unsupported);
}

#[test]
fn the_session_setup_runs_first() {
    let Some(server) = server() else { return };
    let mut target = server.target("trusted");
    "bench".clone_into(&mut target.database);
    target.session_setup =
        vec!["SET work_mem = '7MB'".to_owned(), "SET DateStyle = 'German'".to_owned()];
    let mut connection = connect(&target).unwrap();
    assert_eq!(first(&mut connection, "SELECT current_database()"), "bench");
    assert_eq!(first(&mut connection, "SHOW work_mem"), "7MB");
    assert_eq!(first(&mut connection, "SHOW application_name"), "dyno");
    assert_eq!(
        first(&mut connection, "SELECT pg_backend_pid()"),
        connection.backend_process().to_string()
    );
    let version = first(&mut connection, "SHOW server_version");
    assert_eq!(version.split(' ').next(), Some(connection.identity().version.as_str()));
    target.session_setup = vec!["SET work_mem = 'much'".to_owned()];
    let failure = refusal(&target);
    assert_eq!(failure.sqlstate, "22023");
    assert!(failure.message.contains("SET work_mem = 'much'"), "{failure}");
}

/// A server that accepts one connection and behaves as scripted.
fn pretender(behave: impl FnOnce(std::net::TcpStream) + Send + 'static) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || behave(listener.accept().unwrap().0));
    let mut target =
        Target::new(Engine::Postgres, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port });
    "u".clone_into(&mut target.user);
    target.password = Secret::new(PASSWORD);
    target
}

/// Reads until the client closes.
fn listen(mut stream: std::net::TcpStream) {
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

#[test]
fn a_silent_server_times_out() {
    for tls in [Tls::Off, Tls::Required] {
        let mut target = pretender(listen);
        target.tls = tls;
        target.connect_timeout = Duration::from_millis(100);
        let begun = Instant::now();
        let failure = refusal(&target);
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
        assert!(failure.message.contains("the login was not finished within 100ms"), "{failure}");
        assert!(begun.elapsed() >= Duration::from_millis(100));
    }
}

#[test]
fn a_silent_server_times_out_in_an_event_loop_as_well() {
    let mut target = pretender(listen);
    target.connect_timeout = Duration::from_millis(100);
    let reactor = Reactor::new().unwrap();
    let mut executor = Executor::new(reactor.clone());
    let answer = Rc::new(RefCell::new(None));
    let error_cell = Rc::clone(&answer);
    executor.spawn(async move {
        *error_cell.borrow_mut() = Connection::connect(&target, &Io::Reactor(reactor)).await.err();
    });
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(1)).unwrap();
    }
    assert_eq!(answer.take().unwrap().kind, FailureKind::Timeout);
}

#[test]
fn answers_to_the_request_for_tls_are_verified() {
    let cases: [(&'static [u8], FailureKind, &str); 5] = [
        (b"N", FailureKind::Unsupported, "does not offer TLS"),
        // Data injected after the answer (CVE-2021-23222).
        (b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", FailureKind::Protocol, "unencrypted bytes"),
        (b"E\0\0\0\x40", FailureKind::NotReady, "with an error"),
        (b"X", FailureKind::Protocol, "88"),
        (b"", FailureKind::ConnectionLost, "closed the connection"),
    ];
    for (answer, kind, words) in cases {
        let mut target = pretender(move |mut stream| {
            let mut request = [0; 8];
            stream.read_exact(&mut request).unwrap();
            assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47]);
            stream.write_all(answer).unwrap();
            if !answer.is_empty() {
                listen(stream);
            }
        });
        target.tls = Tls::Required;
        let failure = refusal(&target);
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[test]
fn invalid_answers_and_closed_connections_are_distinguished() {
    let cases: [(&'static [u8], FailureKind); 6] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", FailureKind::Protocol),
        (b"", FailureKind::ConnectionLost),
        (b"R\0\0\0\x08\0\0\0\x07", FailureKind::Unsupported), // GSSAPI
        (b"R\0\0\0\x05\0", FailureKind::Protocol),            // truncated
        (b"Z\0\0\0\x05I", FailureKind::Protocol),             // ready without a login
        (b"E\0\0\0\x1eSFATAL\0C57P03\0Mstarting\0\0x", FailureKind::NotReady),
    ];
    for (answer, kind) in cases {
        let target = pretender(move |mut stream| {
            let mut startup = [0; 8];
            stream.read_exact(&mut startup).unwrap();
            stream.write_all(answer).unwrap();
            if !answer.is_empty() {
                listen(stream);
            }
        });
        let failure = refusal(&target);
        assert_eq!(failure.kind, kind, "{failure}");
    }
}

#[test]
fn a_refused_connection_is_not_a_timeout() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let target =
        Target::new(Engine::Postgres, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port });
    assert_eq!(refusal(&target).kind, FailureKind::ConnectRefused);
}
