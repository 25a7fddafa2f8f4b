//! Opens a session: connection, TLS, login, session setup.

use super::connection::Connection;
use super::protocol::Malformed;
use super::protocol::authentication::Login;
use super::protocol::certificate;
use super::protocol::frontend;
use super::protocol::greeting::{Greeting, SessionFacts};
use super::protocol::inbox::Inbox;
use super::protocol::scram::{self, SaltedPassword};
use crate::driver::{Driver, Result};
use crate::transport::{Io, Stream, client_configuration, stream_failure};
use crate::value::{Discard, Table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, ServerState, Target, Tls};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ClientConfig;
use std::cell::RefCell;
use std::iter;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// PostgreSQL's name in the TLS handshake.
const ALPN: &[u8] = b"postgresql";

/// Opens a connection to the first address whose server answers and is in the wanted state.
pub(super) async fn open(target: &Target, io: &Io) -> Result<Connection> {
    if target.options.alternatives.is_empty() && target.options.wanted_state == ServerState::Any {
        return open_one(target, io).await;
    }
    let mut wanted = vec![target.options.wanted_state];
    if target.options.wanted_state == ServerState::PreferStandby {
        wanted = vec![ServerState::Standby, ServerState::Any];
    }
    let mut failed = None;
    for wanted in wanted {
        let others = target.options.alternatives.iter().map(|endpoint| Target {
            endpoint: endpoint.clone(),
            detour: None,
            ..target.clone()
        });
        for target in iter::once(target.clone()).chain(others) {
            match open_in_state(&target, wanted, io).await {
                // Another server would reject the account too, or must not get its password.
                Err(failure)
                    if !matches!(
                        failure.kind,
                        FailureKind::Authentication
                            | FailureKind::Certificate
                            | FailureKind::Cancelled
                    ) =>
                {
                    failed = Some(failure);
                }
                other => return other,
            }
        }
    }
    Err(failed.expect("at least one address was tried"))
}

async fn open_in_state(target: &Target, wanted: ServerState, io: &Io) -> Result<Connection> {
    let mut connection = open_one(target, io).await?;
    let (question, expected) = match wanted {
        ServerState::Any | ServerState::PreferStandby => return Ok(connection),
        ServerState::ReadWrite => ("SHOW transaction_read_only", "off"),
        ServerState::ReadOnly => ("SHOW transaction_read_only", "on"),
        ServerState::Primary => ("SELECT pg_is_in_recovery()", "f"),
        ServerState::Standby => ("SELECT pg_is_in_recovery()", "t"),
    };
    let mut answer = Table::default();
    connection.query(question, &mut answer).await?;
    if answer.0.first().and_then(|row| row.first()?.as_deref()) == Some(expected) {
        return Ok(connection);
    }
    connection.close().await;
    Err(FailureKind::NotReady.failure(format!(
        "the server of {} is not in the state `target_session_attrs={}`",
        target.endpoint,
        wanted.name()
    )))
}

/// Opens a connection to the target's address; a single deadline applies to all steps.
async fn open_one(target: &Target, io: &Io) -> Result<Connection> {
    let deadline = Instant::now() + target.connect_timeout;
    let mut stream = Stream::connect(target.opened_at(), io, deadline).await?;
    stream.set_deadline(Some(deadline));
    let opened = log_in_and_set_up(stream, target, io).await;
    opened.map_err(|failure| match failure.kind {
        FailureKind::Timeout => FailureKind::Timeout.failure(format!(
            "{} accepted the connection, but the login was not finished within {:?}",
            target.endpoint, target.connect_timeout
        )),
        _ => failure,
    })
}

async fn log_in_and_set_up(mut stream: Stream, target: &Target, io: &Io) -> Result<Connection> {
    if target.tls != Tls::Off {
        encrypt(&mut stream, target).await?;
    }
    let mut inbox = Inbox::default();
    let session = log_in(&mut stream, &mut inbox, target).await?;
    let mut connection = Connection::new(stream, io, target, session, inbox);
    for statement in &target.session_setup {
        connection.query(statement, &mut Discard).await.map_err(|failure| OperationFailure {
            message: format!("session set-up {statement:?}: {}", failure.message),
            ..failure
        })?;
    }
    connection.only_reads = target.only_reads;
    connection.stream.set_deadline(None);
    Ok(connection)
}

/// Requests TLS and performs the handshake.
async fn encrypt(stream: &mut Stream, target: &Target) -> Result<()> {
    let Endpoint::Tcp { host, .. } = &target.endpoint else {
        return Err(FailureKind::Unsupported.failure(format!(
            "{}: PostgreSQL has no TLS on unix sockets; connect without TLS (`sslmode=disable`)",
            target.endpoint
        )));
    };
    let Some(configuration) =
        client_configuration(&target.tls, target.client_certificate.as_ref())?
    else {
        return Ok(());
    };
    if target.options.has_direct_tls {
        let mut configuration = ClientConfig::clone(&configuration);
        configuration.alpn_protocols = vec![ALPN.to_vec()];
        stream.start_tls(Arc::new(configuration), host).await?;
        // Another service at this address could have been confused by our messages otherwise.
        return match stream.agreed_protocol() {
            Some(ALPN) => Ok(()),
            _ => Err(FailureKind::Unsupported.failure(format!(
                "{} did not confirm PostgreSQL's protocol in the TLS handshake; \
                 `sslnegotiation=direct` needs PostgreSQL 17 or later",
                target.endpoint
            ))),
        };
    }
    let mut request = Vec::new();
    frontend::tls_request(&mut request);
    stream.write_all(&request).await.map_err(stream_failure)?;
    // One byte more than the answer has: anything after it would be unencrypted data injected by
    // somebody in between (CVE-2021-23222).
    let mut answer = [0; 2];
    let count = stream.read(&mut answer).await.map_err(stream_failure)?;
    match (count, answer[0]) {
        (0, _) => Err(FailureKind::ConnectionLost
            .failure("the server closed the connection on the request for TLS")),
        (1, b'S') => stream.start_tls(configuration, host).await,
        (1, b'N') if target.tls == Tls::Preferred => Ok(()),
        (1, b'N') => Err(FailureKind::Unsupported.failure(format!(
            "{} does not offer TLS; set ssl = on in postgresql.conf, or connect without TLS \
             (`sslmode=disable`)",
            target.endpoint
        ))),
        // The server could not start a process; its error is unencrypted and must not be trusted.
        (_, b'E') => Err(FailureKind::NotReady
            .failure(format!("{} answered the request for TLS with an error", target.endpoint))),
        (1, other) => {
            Err(Malformed { what: "an answer to the request for TLS of", value: other.into() }
                .into())
        }
        (_, _) => Err(FailureKind::Protocol.failure(
            "unencrypted bytes follow the server's answer to the request for TLS; somebody may be \
             in between",
        )),
    }
}

/// Starts the session and answers until the server is ready.
async fn log_in(stream: &mut Stream, inbox: &mut Inbox, target: &Target) -> Result<SessionFacts> {
    let mut output = Vec::new();
    startup(target, &mut output)?;
    let certificate = stream.server_certificate().and_then(certificate::hash);
    let login = Login::new(&target.user, &target.password, nonce()?);
    let mut greeting = Greeting::new(login.bound(target.options.channel_binding, certificate));
    loop {
        if !output.is_empty() {
            stream.write_all(&output).await.map_err(stream_failure)?;
            output.clear();
        }
        while let Some(frame) = inbox.next_frame()? {
            if greeting.take(frame, salted_password, &mut output)? {
                return Ok(greeting.into_session());
            }
        }
        if output.is_empty() {
            match stream.read(inbox.room()).await.map_err(stream_failure)? {
                0 => {
                    return Err(FailureKind::ConnectionLost
                        .failure("the server closed the connection during the login"));
                }
                count => inbox.received(count),
            }
        }
    }
}

fn startup(target: &Target, output: &mut Vec<u8>) -> Result<()> {
    let mut parameters = vec![("user", target.user.as_str())];
    if !target.database.is_empty() {
        parameters.push(("database", &target.database));
    }
    parameters.extend([("application_name", "dyno"), ("client_encoding", "UTF8")]);
    // It would end the value and begin another parameter.
    if let Some((name, value)) = parameters.iter().find(|(_, value)| value.contains('\0')) {
        return Err(FailureKind::Authentication
            .failure(format!("the {name} {value:?} contains a zero byte")));
    }
    frontend::startup(if target.options.offers_protocol_3_2 { 2 } else { 0 }, &parameters, output);
    Ok(())
}

/// 18 random bytes in base64.
fn nonce() -> Result<String> {
    let mut random = [0; 18];
    SystemRandom::new().fill(&mut random).map_err(|_| {
        FailureKind::Other.failure("the system returned no random bytes, which the login needs")
    })?;
    Ok(BASE64.encode(random))
}

thread_local! {
    /// The last salted password of this thread. All clients of a worker log in as one user with one
    /// salt, and deriving it takes a millisecond or more, which adds up for a thousand clients.
    static DERIVED: RefCell<Option<Derived>> = const { RefCell::new(None) };
}

struct Derived {
    password: Secret,
    salt: Vec<u8>,
    iterations: NonZeroU32,
    salted: SaltedPassword,
}

fn salted_password(password: &str, salt: &[u8], iterations: NonZeroU32) -> SaltedPassword {
    DERIVED.with_borrow_mut(|cache| match cache {
        Some(derived)
            if derived.password.reveal() == password
                && derived.salt == salt
                && derived.iterations == iterations =>
        {
            derived.salted
        }
        _ => {
            let salted = scram::salted_password(password, salt, iterations);
            *cache = Some(Derived {
                password: Secret::new(password),
                salt: salt.to_vec(),
                iterations,
                salted,
            });
            salted
        }
    })
}
