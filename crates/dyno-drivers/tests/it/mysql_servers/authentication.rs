//! Successful and rejected logins.

use super::fake::{fake, greeting, packet, skip_packet};
use super::server::{Kind, Server, first, mariadb, mysql, run, servers};
use dyno_drivers::mysql::Connection;
use dyno_drivers::transport::Reactor;
use dyno_drivers::{Driver, Executor, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, QueryMode, Target, Tls};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Passwords of all kinds: empty, short, non-ASCII, longer than a SHA block.
const PASSWORDS: [&str; 4] = [
    "",
    "secret",
    "Paßwort 비밀 🔑",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
];

/// All paths to the server: unix socket, plain TCP, TLS over TCP without and with verification, TLS
/// over the socket.
fn ways(server: &Server) -> Vec<(Endpoint, Tls)> {
    let verify = Tls::Verify { ca: Some(server.authority.clone()) };
    vec![
        (Endpoint::Unix(server.socket.clone()), Tls::Off),
        (server.tcp(), Tls::Off),
        (server.tcp(), Tls::Required),
        (server.tcp(), verify.clone()),
        (Endpoint::Tcp { host: "localhost".to_owned(), port: server.port }, verify),
        (Endpoint::Unix(server.socket.clone()), Tls::Required),
    ]
}

fn account(way: &(Endpoint, Tls), user: &str, password: &str) -> Target {
    let mut target = Target::new(Engine::Mysql, way.0.clone());
    target.tls = way.1.clone();
    target.user = user.to_owned();
    target.password = Secret::new(password);
    target
}

/// Creates an account with `identified`, where `{}` stands for the password, and logs in over all
/// paths, twice each.
fn logs_in_everywhere(server: &Server, user: &str, identified: &str, passwords: &[&str]) {
    let mut root = server.connect(&server.root());
    for password in passwords {
        run(&mut root, &format!("DROP USER IF EXISTS {user}"));
        run(&mut root, &format!("CREATE USER {user} {}", identified.replace("{}", password)));
        for way in ways(server) {
            // Clears the server's cache, so that the first login is a full one.
            run(&mut root, "FLUSH PRIVILEGES");
            for attempt in 0..2 {
                let target = account(&way, user, password);
                let mut connection = block_on(Connection::connect(&target, &Io::Blocking))
                    .unwrap_or_else(|failure| {
                        panic!("{identified} {way:?} attempt {attempt}: {failure}")
                    });
                assert!(first(&mut connection, "SELECT CURRENT_USER()").starts_with(user));
                let cipher = super::server::table(&mut connection, "SHOW STATUS LIKE 'Ssl_cipher'");
                assert_eq!(
                    cipher[0][1].as_deref() != Some(""),
                    way.1 != Tls::Off,
                    "{way:?} {cipher:?}"
                );
                block_on(connection.close());
            }
            if !password.is_empty() {
                let failure =
                    block_on(Connection::connect(&account(&way, user, "Wr0ng"), &Io::Blocking))
                        .err()
                        .unwrap();
                assert_eq!(
                    (failure.kind, failure.code),
                    (FailureKind::Authentication, 1045),
                    "{failure}"
                );
                assert!(!failure.to_string().contains("Wr0ng"));
            }
        }
    }
}

#[test]
fn a_certificate_must_name_the_server_even_through_a_proxy() {
    let Some(server) = mysql() else { return };
    let verify = Tls::Verify { ca: Some(server.authority.clone()) };
    let mut root = server.connect(&server.root());
    run(&mut root, "CREATE USER IF NOT EXISTS roundabout IDENTIFIED BY 'secret'");
    let by_detour = |host: &str| {
        // Nothing listens on port 1.
        let way = (Endpoint::Tcp { host: host.to_owned(), port: 1 }, verify.clone());
        let target = Target { detour: Some(server.tcp()), ..account(&way, "roundabout", "secret") };
        block_on(Connection::connect(&target, &Io::Blocking))
            .err()
            .map(|failure| failure.to_string())
    };
    assert_eq!(by_detour("localhost"), None);
    let reported = by_detour("elsewhere.invalid").expect("the certificate is another's");
    assert!(reported.contains("elsewhere.invalid"), "{reported}");
}

#[test]
fn caching_sha2_password_logs_in_over_all_paths() {
    let Some(server) = mysql() else { return };
    logs_in_everywhere(
        server,
        "caching",
        "IDENTIFIED WITH caching_sha2_password BY '{}'",
        &PASSWORDS,
    );
}

/// MySQL 8.0 has both methods, 8.4 has the second one on demand, later versions have neither.
#[test]
fn older_methods_of_mysql_log_in_over_all_paths() {
    let Some(server) = mysql() else { return };
    let mut root = server.connect(&server.root());
    for (user, plugin) in [("sha256", "sha256_password"), ("native", "mysql_native_password")] {
        let plugins = format!(
            "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = '{plugin}' \
             AND plugin_status = 'ACTIVE'"
        );
        if first(&mut root, &plugins) == "0" {
            println!("skipped: this MySQL has no {plugin}");
            continue;
        }
        let identified = format!("IDENTIFIED WITH {plugin} BY '{{}}'");
        logs_in_everywhere(server, user, &identified, &PASSWORDS);
    }
}

#[test]
fn native_password_logs_in_over_all_paths() {
    let Some(server) = mariadb() else { return };
    logs_in_everywhere(
        server,
        "native",
        "IDENTIFIED VIA mysql_native_password USING PASSWORD('{}')",
        &PASSWORDS,
    );
}

#[test]
fn ed25519_logs_in_over_all_paths_after_a_switch() {
    let Some(server) = mariadb() else { return };
    // MariaDB accepts no empty ed25519 password, not even from its own client.
    logs_in_everywhere(
        server,
        "curve",
        "IDENTIFIED VIA ed25519 USING PASSWORD('{}')",
        &PASSWORDS[1..],
    );
}

#[test]
fn account_requiring_a_client_certificate_rejects_other_logins() {
    for server in servers() {
        let mut root = server.connect(&server.root());
        run(&mut root, "DROP USER IF EXISTS shown");
        run(&mut root, "CREATE USER shown IDENTIFIED BY 'secret' REQUIRE SUBJECT '/CN=client'");
        let enter = |client_certificate| {
            let way = (server.tcp(), Tls::Verify { ca: Some(server.authority.clone()) });
            let target = Target { client_certificate, ..account(&way, "shown", "secret") };
            block_on(Connection::connect(&target, &Io::Blocking))
        };
        let shown = |name: &str| {
            let file = |suffix| server.authority.with_file_name(name).with_extension(suffix);
            Some(ClientCertificate { certificate: file("pem"), key: file("key") })
        };
        let mut connection = enter(shown("client")).unwrap();
        assert!(first(&mut connection, "SELECT CURRENT_USER()").starts_with("shown@"));
        block_on(connection.close());
        for (certificate, kind, is_reported) in [
            (None, FailureKind::Authentication, "shown"),
            (shown("server"), FailureKind::Authentication, "shown"),
            (shown("missing"), FailureKind::Certificate, "missing.pem"),
        ] {
            let failure = enter(certificate).err().expect("the account needs the certificate");
            assert_eq!(failure.kind, kind, "{failure}");
            assert!(failure.message.contains(is_reported), "{failure}");
        }
    }
}

#[test]
fn a_certificate_of_another_authority_is_rejected() {
    for server in servers() {
        let way = (server.tcp(), Tls::Verify { ca: Some(server.other_authority.clone()) });
        let failure =
            block_on(Connection::connect(&account(&way, "root", ""), &Io::Blocking)).err().unwrap();
        assert_eq!(failure.kind, FailureKind::Certificate, "{failure}");
        assert!(failure.message.contains("certificate"), "{failure}");
    }
}

#[test]
fn limits_and_missing_privileges_are_distinguished() {
    for server in servers() {
        let mut root = server.connect(&server.root());
        run(&mut root, "DROP USER IF EXISTS limited");
        run(&mut root, "CREATE USER limited IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 1");
        let target = account(&(Endpoint::Unix(server.socket.clone()), Tls::Off), "limited", "x");
        let kept = server.connect(&target);
        let failure = block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap();
        assert_eq!(failure.kind, FailureKind::OutOfConnections, "{failure}");
        drop(kept);

        let mut target = server.root();
        target.database = "no_such_database".to_owned();
        let failure = block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap();
        assert_eq!((failure.kind, failure.code), (FailureKind::BadStatement, 1049), "{failure}");
    }
}

#[test]
fn session_setup_runs_first_and_its_failure_names_the_statement() {
    for server in servers() {
        let mut target = server.root();
        target.session_setup = vec!["SET @a = 41".to_owned(), "SET @a = @a + 1".to_owned()];
        let mut connection = server.connect(&target);
        assert_eq!(first(&mut connection, "SELECT @a"), "42");
        assert_eq!(first(&mut connection, "SELECT @@character_set_client"), "utf8mb4");

        target.session_setup.push("SET secret_of_mine = 1".to_owned());
        let failure = block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap();
        assert!(failure.message.starts_with("statement 3 of session_setup: "), "{failure}");
        assert_eq!(failure.kind, FailureKind::BadStatement);
    }
}

#[test]
fn versions_are_reported_without_the_prefix_for_replicas() {
    for server in servers() {
        let connection = server.connect(&server.root());
        let version = &connection.identity().version;
        assert!(!version.starts_with("5.5.5"), "{version}");
        assert_eq!(version.contains("MariaDB"), server.kind == Kind::Mariadb, "{version}");
    }
}

/// Connects with a blocking socket or in an event loop.
fn connect(target: Target, in_event_loop: bool) -> Result<Connection, OperationFailure> {
    if !in_event_loop {
        return block_on(Connection::connect(&target, &Io::Blocking));
    }
    let reactor = Reactor::new().unwrap();
    let io = Io::Reactor(reactor.clone());
    let mut executor = Executor::new(reactor);
    let result = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&result);
    executor.spawn(async move {
        let outcome = Connection::connect(&target, &io).await;
        *slot.borrow_mut() = Some(outcome);
    });
    while executor.alive() > 0 {
        executor.turn(Duration::from_secs(1)).unwrap();
    }
    result.take().expect("the task has ended")
}

#[test]
fn a_silent_server_times_out() {
    for in_event_loop in [false, true] {
        // Silent at once, and silent after the greeting.
        let targets = [
            fake(|mut socket| drop(socket.read_to_end(&mut Vec::new()))),
            fake(|mut socket| {
                socket.write_all(&greeting(0x01FF, "mysql_native_password")).unwrap();
                drop(socket.read_to_end(&mut Vec::new()));
            }),
        ];
        for mut target in targets {
            target.connect_timeout = Duration::from_millis(300);
            let start = Instant::now();
            let failure = connect(target, in_event_loop).err().unwrap();
            assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
            assert!(failure.message.contains("login was not finished within 300ms"), "{failure}");
            assert!(
                start.elapsed() >= Duration::from_millis(300),
                "gave up after {:?}",
                start.elapsed()
            );
        }
    }
}

#[test]
fn another_protocol_is_a_protocol_failure() {
    let cases: [(&[u8], FailureKind); 5] = [
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", FailureKind::ConnectionLost),
        (b"\x05\0\0\0\x09abcd", FailureKind::Protocol),
        (b"\x05\0\0\x03\x0aabcd", FailureKind::Protocol),
        (b"\x02\0\0\0\x0a\0", FailureKind::Protocol),
        (b"", FailureKind::ConnectionLost),
    ];
    for (bytes, kind) in cases {
        for in_event_loop in [false, true] {
            let failure =
                connect(fake(move |mut socket| socket.write_all(bytes).unwrap()), in_event_loop)
                    .err()
                    .unwrap();
            assert_eq!(failure.kind, kind, "{bytes:?}: {failure}");
        }
    }
}

#[test]
fn a_rejection_before_the_login_is_decoded() {
    let failure = connect(
        fake(|mut socket| {
            socket.write_all(&packet(0, b"\xff\x10\x04Too many connections")).unwrap();
        }),
        false,
    );
    let failure = failure.err().unwrap();
    assert_eq!(failure.kind, FailureKind::OutOfConnections);
    assert_eq!((failure.code, failure.message.as_str()), (1040, "Too many connections"));
}

#[test]
fn an_unsupported_plugin_is_named() {
    let target = fake(|mut socket| {
        socket.write_all(&greeting(0x01FF, "auth_gssapi_client")).unwrap();
        skip_packet(&mut socket);
        socket.write_all(&packet(2, b"\xfeauth_gssapi_client\0principal")).unwrap();
    });
    let failure = connect(target, false).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert!(failure.message.contains("plugin auth_gssapi_client"), "{failure}");
    assert!(failure.message.contains("caching_sha2_password"), "{failure}");
}

#[test]
fn required_tls_sends_nothing_to_a_server_without_tls() {
    let mut target = fake(|mut socket| {
        socket.write_all(&greeting(0x01FF, "mysql_native_password")).unwrap();
        let mut said = Vec::new();
        socket.read_to_end(&mut said).unwrap();
        assert!(said.is_empty());
    });
    target.tls = Tls::Required;
    let failure = connect(target, false).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert!(failure.message.contains("offers no TLS"), "{failure}");
}

#[test]
fn extended_mode_is_rejected_with_the_remedy() {
    let mut target =
        Target::new(Engine::Mysql, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: 1 });
    target.query_mode = QueryMode::Extended;
    let failure = block_on(Connection::connect(&target, &Io::Blocking)).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert!(failure.message.contains("use `prepared` or `simple`"), "{failure}");
}

#[test]
fn a_refused_connection_is_reported_as_such() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for in_event_loop in [false, true] {
        let target =
            Target::new(Engine::Mysql, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port });
        assert_eq!(connect(target, in_event_loop).err().unwrap().kind, FailureKind::ConnectRefused);
    }
}
