//! Logs in on a connected socket.

use super::connection::Connection;
use super::error::failure;
use super::protocol::auth::{self, Channel, Plugin};
use super::protocol::handshake::{AuthReply, Greeting, Login, capability};
use super::protocol::packet;
use super::protocol::reply::{Capabilities, Done, ServerError};
use crate::driver::Result;
use crate::transport::{Stream, client_configuration, stream_failure};
use dyno_model::engine::Product;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Target, Tls};

/// Capabilities of this client; those that the server also has are used.
const CAPABILITIES: u32 = capability::LONG_FLAG
    | capability::LOCAL_FILES
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_STATEMENTS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRIBUTES
    | capability::PLUGIN_AUTH_LENGTH_ENCODED
    | capability::DEPRECATE_EOF;

/// Reads the greeting, encrypts if required, and authenticates.
pub(super) async fn log_in(stream: Stream, target: &Target) -> Result<Connection> {
    let mut connection = Connection::unauthenticated(stream, target.query_mode);
    let greeting = receive_greeting(&mut connection).await?;
    let (capabilities, capabilities_mariadb) = agree(&greeting, target)?;
    connection.thread = greeting.thread;
    connection.identity = greeting.identity();
    let mut sequence = 1;
    let plugin = Plugin::named(&greeting.plugin).unwrap_or(Plugin::NativePassword);
    let mut login = Login {
        capabilities,
        capabilities_mariadb,
        collation: greeting.collation_utf8mb4(),
        user: &target.user,
        proof: &[],
        database: &target.database,
        plugin: plugin.name(),
    };
    let is_offered = capabilities & capability::SSL != 0;
    let configuration = client_configuration(&target.tls, target.client_certificate.as_ref())?;
    if let Some(configuration) = configuration.filter(|_| is_offered) {
        let mut out = Vec::new();
        sequence = login.write_tls_request(&mut out, sequence);
        connection.stream.write_all(&out).await.map_err(stream_failure)?;
        let host = match &target.endpoint {
            Endpoint::Tcp { host, .. } => host.as_str(),
            _ => "localhost",
        };
        connection.stream.start_tls(configuration, host).await?;
    }
    let channel = match target.endpoint {
        _ if connection.stream.is_encrypted() => Channel::Encrypted,
        Endpoint::Unix(_) => Channel::Local,
        _ => Channel::Open,
    };
    let proof =
        plugin.first_answer(target.password.reveal(), plugin.nonce(&greeting.nonce), channel);
    login.proof = &proof;
    let mut out = Vec::new();
    sequence = login.write(&mut out, sequence);
    connection.stream.write_all(&out).await.map_err(stream_failure)?;
    connection.input.expect(sequence);
    let nonce = plugin.nonce(&greeting.nonce).to_vec();
    Authentication { target, plugin, nonce, channel }.run(&mut connection).await?;
    connection.capabilities = Capabilities {
        is_ok_terminated: login.capabilities & capability::DEPRECATE_EOF != 0,
        has_cached_metadata: login.capabilities_mariadb & capability::MARIADB_CACHE_METADATA != 0,
    };
    Ok(connection)
}

async fn receive_greeting(connection: &mut Connection) -> Result<Greeting> {
    connection.input.expect(0);
    let span = connection.packet().await?;
    let payload = connection.input.payload(span);
    if payload.first() == Some(&0xFF) {
        // Too many connections, or a blocked host: rejected before the login.
        let error = ServerError::decode(payload)?;
        return Err(failure(Product::Mysql, error));
    }
    Ok(Greeting::decode(payload)?)
}

/// Capabilities that both sides have, and those of MariaDB.
fn agree(greeting: &Greeting, target: &Target) -> Result<(u32, u32)> {
    let unsupported = |what: &str| FailureKind::Unsupported.failure(what);
    if greeting.capabilities & capability::PROTOCOL_41 == 0 {
        return Err(unsupported("the server only supports the protocol before MySQL 4.1"));
    }
    let mut wanted = CAPABILITIES;
    if !target.database.is_empty() {
        wanted |= capability::CONNECT_WITH_DB;
    }
    if target.tls != Tls::Off {
        if greeting.capabilities & capability::SSL == 0 && target.tls != Tls::Preferred {
            return Err(unsupported(
                "the server offers no TLS; configure a certificate on it, or connect without TLS \
                 (`sslmode=disable`)",
            ));
        }
        wanted |= capability::SSL;
    }
    if greeting.capabilities & capability::MYSQL != 0 {
        wanted |= capability::MYSQL;
    }
    for (what, text) in [("user", &target.user), ("database", &target.database)] {
        if text.contains('\0') {
            return Err(unsupported(&format!(
                "{what} {text:?}: names with a NUL byte are not supported"
            )));
        }
    }
    let wanted_mariadb = capability::MARIADB_CACHE_METADATA;
    Ok((wanted & greeting.capabilities, wanted_mariadb & greeting.capabilities_mariadb))
}

/// The packets after the login packet.
struct Authentication<'a> {
    target: &'a Target,
    plugin: Plugin,
    nonce: Vec<u8>,
    channel: Channel,
}

impl Authentication<'_> {
    async fn run(&mut self, connection: &mut Connection) -> Result<()> {
        loop {
            let span = connection.packet().await?;
            let payload = connection.input.payload(span);
            let answer = match AuthReply::decode(payload)? {
                AuthReply::Accepted => {
                    connection.status = Done::decode_ok(payload)?.status;
                    return Ok(());
                }
                AuthReply::Refused(payload) => {
                    let error = ServerError::decode(payload)?;
                    return Err(failure(connection.identity.product, error));
                }
                AuthReply::Switch { plugin, nonce } => {
                    self.plugin = Plugin::named(plugin).ok_or_else(|| unknown_plugin(plugin))?;
                    self.nonce = self.plugin.nonce(nonce).to_vec();
                    Some(self.plugin.first_answer(self.password(), &self.nonce, self.channel))
                }
                AuthReply::More(more) => self.answer(more)?,
            };
            if let Some(answer) = answer {
                let mut out = Vec::new();
                let at = packet::begin(&mut out);
                out.extend_from_slice(&answer);
                let sequence = packet::finish(&mut out, at, connection.input.sequence);
                connection.stream.write_all(&out).await.map_err(stream_failure)?;
                connection.input.expect(sequence);
            }
        }
    }

    fn password(&self) -> &str {
        self.target.password.reveal()
    }

    /// The answer to further data for the plugin; `None` when it only announces the end.
    fn answer(&self, more: &[u8]) -> Result<Option<Vec<u8>>> {
        match (self.plugin, more) {
            (Plugin::CachingSha2, [auth::CACHING_SHA2_FAST]) => Ok(None),
            (Plugin::CachingSha2, [auth::CACHING_SHA2_FULL])
                if self.plugin.sends_cleartext(self.channel) =>
            {
                Ok(Some(auth::cleartext(self.password())))
            }
            (Plugin::CachingSha2, [auth::CACHING_SHA2_FULL]) => {
                Ok(Some(vec![auth::CACHING_SHA2_KEY_REQUEST]))
            }
            // The server sends its key only on request; over a connection that nobody can eavesdrop
            // on, the password was sent instead.
            (Plugin::CachingSha2 | Plugin::Sha256, key)
                if !self.plugin.sends_cleartext(self.channel) =>
            {
                Ok(Some(auth::rsa_encrypted(self.password(), &self.nonce, key)?))
            }
            (plugin, _) => Err(FailureKind::Protocol
                .failure(format!("the server's plugin {} sent unexpected data", plugin.name()))),
        }
    }
}

fn unknown_plugin(plugin: &str) -> OperationFailure {
    FailureKind::Unsupported.failure(format!(
        "the account uses the authentication plugin {plugin}, which dyno does not support; supported are {}; \
             change the account, e.g. ALTER USER ... IDENTIFIED ...",
        Plugin::ALL.map(Plugin::name).join(", ")
    ))
}
