//! The server's greeting and the client's login packets.

use super::cursor::Cursor;
use super::{Malformed, Result, packet};
use dyno_model::engine::{Engine, Identity, Product};

/// Capability flags that client and server negotiate.
pub mod capability {
    /// Not set by MariaDB servers, which then send extended capabilities (called
    /// `CLIENT_LONG_PASSWORD` in MySQL).
    pub const MYSQL: u32 = 1;
    /// All column flags.
    pub const LONG_FLAG: u32 = 1 << 2;
    /// The login names a database.
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    /// `LOAD DATA LOCAL`.
    pub const LOCAL_FILES: u32 = 1 << 7;
    /// The protocol since 4.1.
    pub const PROTOCOL_41: u32 = 1 << 9;
    /// TLS after an `SSLRequest`.
    pub const SSL: u32 = 1 << 11;
    /// Status flags in OK packets.
    pub const TRANSACTIONS: u32 = 1 << 13;
    /// Authentication since 4.1.
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    /// Several statements in one text.
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    /// Several results of a text.
    pub const MULTI_RESULTS: u32 = 1 << 17;
    /// Several results of a prepared statement.
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    /// Authentication by plugin.
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    /// Attributes such as the program's name.
    pub const CONNECT_ATTRIBUTES: u32 = 1 << 20;
    /// Authentication data longer than 255 bytes.
    pub const PLUGIN_AUTH_LENGTH_ENCODED: u32 = 1 << 21;
    /// No EOF packets: column definitions end without one, rows with an OK packet.
    pub const DEPRECATE_EOF: u32 = 1 << 24;

    /// MariaDB, extended: the column definitions of a prepared statement are sent again only after
    /// a change.
    pub const MARIADB_CACHE_METADATA: u32 = 1 << 4;
}

/// `utf8mb4_general_ci`, known to all servers; a collation determines a connection's character set.
const COLLATION_UTF8MB4: u8 = 45;

/// The server's first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The server's version as sent, e.g. `5.5.5-10.11.11-MariaDB`.
    pub server_version: String,
    /// The session's id, as in `SHOW PROCESSLIST`.
    pub thread: u32,
    /// The nonce for the password's proof, perhaps followed by a NUL (see
    /// [`super::auth::Plugin::nonce`]).
    pub nonce: Vec<u8>,
    /// Capabilities of the server: see [`capability`].
    pub capabilities: u32,
    /// MariaDB's further capabilities, 0 from others.
    pub capabilities_mariadb: u32,
    /// The server's default collation.
    pub collation: u8,
    /// The authentication plugin that it tries first; empty from servers that do not report it.
    pub plugin: String,
}

impl Greeting {
    /// Decodes a payload that is not an error packet.
    ///
    /// # Errors
    /// When it is truncated, or of another protocol version than 10.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        let version = cursor.u8()?;
        if version != 10 {
            return Err(Malformed::new(format!(
                "greeting of protocol version {version}, expected 10"
            )));
        }
        let server_version = String::from_utf8_lossy(cursor.nul_terminated()).into_owned();
        let thread = cursor.u32()?;
        let mut nonce = cursor.bytes(8)?.to_vec();
        cursor.u8()?;
        let mut greeting = Self {
            server_version,
            thread,
            nonce: Vec::new(),
            capabilities: cursor.u16()?.into(),
            capabilities_mariadb: 0,
            collation: COLLATION_UTF8MB4,
            plugin: String::new(),
        };
        if !cursor.is_empty() {
            greeting.collation = cursor.u8()?;
            let _status = cursor.u16()?;
            greeting.capabilities |= u32::from(cursor.u16()?) << 16;
            let nonce_length = cursor.u8()?;
            cursor.bytes(6)?;
            let extended = cursor.u32()?;
            if greeting.capabilities & capability::MYSQL == 0 {
                greeting.capabilities_mariadb = extended;
            }
            if greeting.capabilities & capability::SECURE_CONNECTION != 0 {
                // The length includes the first eight bytes and a final NUL, but at least 13 bytes
                // follow in any case.
                let second = cursor.bytes(usize::from(nonce_length.saturating_sub(8)).max(13))?;
                nonce.extend_from_slice(second);
            }
            if greeting.capabilities & capability::PLUGIN_AUTH != 0 {
                greeting.plugin = String::from_utf8_lossy(cursor.nul_terminated()).into_owned();
            }
        }
        greeting.nonce = nonce;
        Ok(greeting)
    }

    /// Product and version of the server. The version of MariaDB may be set to any text, but the
    /// capability identifies it in any case.
    #[must_use]
    pub fn identity(&self) -> Identity {
        match self.capabilities & capability::MYSQL {
            0 => Identity::new(Product::Mariadb, &self.server_version),
            _ => Identity::reported(Engine::Mysql, &self.server_version),
        }
    }

    /// The collation to request: the server's own if it belongs to utf8mb4, so that comparisons
    /// follow the server's default rules.
    #[must_use]
    pub fn collation_utf8mb4(&self) -> u8 {
        match self.collation {
            utf8mb4 @ (45 | 46 | 224..=247 | 255) => utf8mb4,
            _ => COLLATION_UTF8MB4,
        }
    }
}

/// Content of a login packet.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// Negotiated capabilities.
    pub capabilities: u32,
    /// Negotiated capabilities of MariaDB.
    pub capabilities_mariadb: u32,
    /// The connection's collation, below 256.
    pub collation: u8,
    /// Account.
    pub user: &'a str,
    /// Proof of the password for `plugin`.
    pub proof: &'a [u8],
    /// Database; sent if the capability is set.
    pub database: &'a str,
    /// The plugin that the proof is for.
    pub plugin: &'a str,
}

/// Largest packet that the client accepts, announced to the server.
const PACKET_MAX: u32 = 1 << 30;

impl Login<'_> {
    fn write_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.to_le_bytes());
        out.extend_from_slice(&PACKET_MAX.to_le_bytes());
        out.push(self.collation);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.capabilities_mariadb.to_le_bytes());
    }

    /// Requests TLS: the beginning of the login packet, sent unencrypted.
    pub fn write_tls_request(&self, out: &mut Vec<u8>, sequence: u8) -> u8 {
        let at = packet::begin(out);
        self.write_head(out);
        packet::finish(out, at, sequence)
    }

    /// The complete login (`HandshakeResponse41`). No text in it may contain a NUL, which the
    /// caller checks.
    pub fn write(&self, out: &mut Vec<u8>, sequence: u8) -> u8 {
        let at = packet::begin(out);
        self.write_head(out);
        out.extend_from_slice(self.user.as_bytes());
        out.push(0);
        if self.capabilities & capability::PLUGIN_AUTH_LENGTH_ENCODED != 0 {
            write_length_encoded(out, self.proof.len() as u64);
        } else {
            out.push(self.proof.len() as u8);
        }
        out.extend_from_slice(self.proof);
        if self.capabilities & capability::CONNECT_WITH_DB != 0 {
            out.extend_from_slice(self.database.as_bytes());
            out.push(0);
        }
        if self.capabilities & capability::PLUGIN_AUTH != 0 {
            out.extend_from_slice(self.plugin.as_bytes());
            out.push(0);
        }
        if self.capabilities & capability::CONNECT_ATTRIBUTES != 0 {
            out.extend_from_slice(b"\x12\x0cprogram_name\x04dyno");
        }
        packet::finish(out, at, sequence)
    }
}

/// An integer in as few bytes as the protocol allows.
pub fn write_length_encoded(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xFA => out.push(value as u8),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// A packet from the server during authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthReply<'a> {
    /// Logged in.
    Accepted,
    /// An error packet, whole.
    Refused(&'a [u8]),
    /// The account uses another plugin, for which this is the nonce.
    Switch {
        /// Its name.
        plugin: &'a str,
        /// The nonce for the proof, perhaps followed by a NUL.
        nonce: &'a [u8],
    },
    /// Data for the plugin.
    More(&'a [u8]),
}

impl<'a> AuthReply<'a> {
    /// Decodes a payload.
    ///
    /// # Errors
    /// When its first byte is none of the known ones.
    pub fn decode(payload: &'a [u8]) -> Result<Self> {
        match payload {
            [0x00, ..] => Ok(Self::Accepted),
            [0xFF, ..] => Ok(Self::Refused(payload)),
            [0x01, more @ ..] => Ok(Self::More(more)),
            // A single byte 0xFE requests the authentication from before 4.1.
            [0xFE] => Ok(Self::Switch { plugin: "mysql_old_password", nonce: &[] }),
            [0xFE, rest @ ..] => {
                let mut cursor = Cursor::new(rest);
                let plugin = std::str::from_utf8(cursor.nul_terminated())
                    .map_err(|_| Malformed::new("the authentication plugin's name is not UTF-8"))?;
                Ok(Self::Switch { plugin, nonce: cursor.take_rest() })
            }
            [other, ..] => {
                Err(Malformed::new(format!("answer to the login begins with {other:#04x}")))
            }
            [] => Err(Malformed::new("empty answer to the login")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_greeting_is_rejected_or_short_but_never_panics() {
        let mut greeting = b"\x0a5.5.5-10.11.11-MariaDB\0".to_vec();
        greeting.extend_from_slice(&[7, 0, 0, 0]);
        greeting.extend_from_slice(b"12345678\0");
        greeting.extend_from_slice(&[0xFE, 0xF7, 45, 2, 0, 0xFF, 0x81, 21]);
        greeting.extend_from_slice(&[0; 6]);
        greeting.extend_from_slice(&[0x1D, 0, 0, 0]);
        greeting.extend_from_slice(b"abcdefghijkl\0mysql_native_password\0");
        let whole = Greeting::decode(&greeting).unwrap();
        assert_eq!(whole.identity(), Identity::new(Product::Mariadb, "10.11.11-MariaDB"));
        assert_eq!(whole.nonce, b"12345678abcdefghijkl\0");
        assert_eq!(whole.plugin, "mysql_native_password");
        assert_eq!(whole.capabilities_mariadb, 0x1D);
        for end in 0..greeting.len() {
            let _ = Greeting::decode(&greeting[..end]);
        }
    }

    #[test]
    fn a_switch_names_plugin_and_nonce() {
        let reply = AuthReply::decode(b"\xFEclient_ed25519\x000123456789\0").unwrap();
        assert_eq!(reply, AuthReply::Switch { plugin: "client_ed25519", nonce: b"0123456789\0" });
        assert!(AuthReply::decode(&[]).is_err());
        assert!(AuthReply::decode(&[0x17]).is_err());
    }
}
