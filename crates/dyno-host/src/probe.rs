//! What preflight asks of servers and of this machine.

use crate::session::Session;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Engine, Target};
use std::io;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;

/// How many connections a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimit {
    /// All it takes (`max_connections`).
    pub max: u64,
    /// Of these, kept for administrators, so not for this account.
    pub reserved: u64,
    /// In use now, the asking connection not counted.
    pub in_use: u64,
    /// Limit of this account alone, if it has one.
    pub per_user: Option<u64>,
}

impl ConnectionLimit {
    /// Connections that this account can open now.
    #[must_use]
    pub fn available(&self) -> u64 {
        let free = self.max.saturating_sub(self.reserved).saturating_sub(self.in_use);
        self.per_user.map_or(free, |limit| limit.min(free))
    }
}

/// How many connections a server takes; `None` where there is no limit.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn connection_limit(target: &Target) -> Result<Option<ConnectionLimit>, OperationFailure> {
    match target.engine {
        Engine::Mysql => mysql_limit(&mut Session::open(target)?).map(Some),
        Engine::Postgres => postgres_limit(&mut Session::open(target)?).map(Some),
        Engine::Sqlite | Engine::Null => Ok(None),
    }
}

fn mysql_limit(session: &mut Session) -> Result<ConnectionLimit, OperationFailure> {
    let connected = session.pairs("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
    let connected: u64 = connected.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(1);
    let per_user = session.count("SELECT @@max_user_connections")?;
    Ok(ConnectionLimit {
        max: session.count("SELECT @@max_connections")?,
        // One more connection than the maximum is kept for an administrator, so none of these.
        reserved: 0,
        in_use: connected.saturating_sub(1),
        per_user: (per_user > 0).then_some(per_user),
    })
}

fn postgres_limit(session: &mut Session) -> Result<ConnectionLimit, OperationFailure> {
    let setting = |name: &str| format!("SELECT coalesce(current_setting('{name}', true), '0')");
    let is_superuser = session.first("SHOW is_superuser")?.as_deref() == Some("on");
    let reserved = if is_superuser {
        0
    } else {
        // The second one exists since version 16.
        session.count(&setting("superuser_reserved_connections"))?
            + session.count(&setting("reserved_connections"))?
    };
    let role = session.first("SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = current_user")?;
    Ok(ConnectionLimit {
        max: session.count(&setting("max_connections"))?,
        reserved,
        in_use: session.count(
            "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?,
        per_user: role.and_then(|limit| limit.parse().ok()),
    })
}

/// A session on the server that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSession {
    /// Its account.
    pub user: String,
    /// From where: host, or the application's name where it gives one.
    pub from: String,
    /// Database, perhaps empty.
    pub database: String,
    /// What it does, e.g. `Sleep`, `Query`, `active`, `idle`.
    pub state: String,
}

/// Sessions on the server besides the asking one. Asked before a run, when dyno has no others.
///
/// # Errors
/// When the system cannot be reached or refuses to answer. An account without the right to see others sees none.
pub fn foreign_sessions(target: &Target) -> Result<Vec<ForeignSession>, OperationFailure> {
    let sql = match target.engine {
        Engine::Mysql => {
            "SELECT user, host, coalesce(db, ''), command FROM information_schema.processlist WHERE id <> connection_id() \
             AND user NOT IN ('system user', 'event_scheduler') AND command NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')"
        }
        Engine::Postgres => {
            "SELECT usename, coalesce(nullif(application_name, ''), client_addr::text, 'local'), coalesce(datname, ''), \
             coalesce(state, '') FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        }
        Engine::Sqlite | Engine::Null => return Ok(Vec::new()),
    };
    let rows = Session::open(target)?.rows(sql)?;
    let session = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().unwrap_or_default();
        ForeignSession { user: next(), from: next(), database: next(), state: next() }
    };
    Ok(rows.into_iter().map(session).collect())
}

/// Whether writes on a system travel further.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replication {
    /// It receives writes from another server, and may be read-only.
    pub is_replica: bool,
    /// Servers and slots that receive its writes.
    pub receivers: u64,
    /// Members of its cluster (Galera, group replication); 0 outside a cluster.
    pub members: u64,
}

impl Replication {
    /// True when the system stands alone.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

/// Asks for replication. What the account may not see counts as not there.
///
/// # Errors
/// When the system cannot be reached.
pub fn replication(target: &Target) -> Result<Replication, OperationFailure> {
    match target.engine {
        Engine::Mysql => Ok(mysql_replication(&mut Session::open(target)?)),
        Engine::Postgres => Ok(postgres_replication(&mut Session::open(target)?)),
        Engine::Sqlite | Engine::Null => Ok(Replication::default()),
    }
}

fn mysql_replication(session: &mut Session) -> Replication {
    // The statement's name changed in MySQL 8.0.22 and MariaDB 10.5; the old one is gone from MySQL 8.4.
    let replica = session.rows("SHOW REPLICA STATUS").or_else(|_| session.rows("SHOW SLAVE STATUS"));
    let status = |session: &mut Session, name: &str| {
        let pairs = session.pairs(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap_or_default();
        pairs.first().and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    let galera = status(session, "wsrep_cluster_size");
    let group = session.count(
        "SELECT count(*) FROM performance_schema.replication_group_members WHERE member_state <> 'OFFLINE'",
    );
    Replication {
        is_replica: replica.is_ok_and(|rows| !rows.is_empty()),
        receivers: session
            .count("SELECT count(*) FROM information_schema.processlist WHERE command IN ('Binlog Dump', 'Binlog Dump GTID')")
            .unwrap_or(0),
        members: std::cmp::max(galera, group.unwrap_or(0)),
    }
}

fn postgres_replication(session: &mut Session) -> Replication {
    Replication {
        is_replica: session
            .first("SELECT pg_is_in_recovery()")
            .is_ok_and(|answer| answer.as_deref() == Some("t")),
        receivers: session
            .count(
                "SELECT (SELECT count(*) FROM pg_catalog.pg_stat_replication) + \
                 (SELECT count(*) FROM pg_catalog.pg_replication_slots WHERE NOT active)",
            )
            .unwrap_or(0),
        members: 0,
    }
}

/// Bytes that an ordinary user can still write to the file system of a path.
///
/// # Errors
/// When the path does not exist or cannot be asked.
pub fn free_disk_space(path: &Path) -> io::Result<u64> {
    let statistics = rustix::fs::statvfs(path)?;
    Ok(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

/// Room on a disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// What this process may still write.
    pub free: u64,
    /// What there is in all.
    pub total: u64,
}

/// Room on the file system of a path.
///
/// # Errors
/// When the path is not there.
pub fn disk_space(path: &Path) -> io::Result<DiskSpace> {
    let statistics = rustix::fs::statvfs(path)?;
    Ok(DiskSpace {
        free: statistics.f_bavail.saturating_mul(statistics.f_frsize),
        total: statistics.f_blocks.saturating_mul(statistics.f_frsize),
    })
}

/// Whether a system runs on this machine, so that it and the generator share processors. A host name that cannot be
/// resolved counts as elsewhere.
#[must_use]
pub fn shares_machine(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Unix(_) | Endpoint::File(_) | Endpoint::InProcess => true,
        Endpoint::Tcp { host, port } => {
            let addresses = (host.as_str(), *port).to_socket_addrs();
            addresses.is_ok_and(|mut addresses| addresses.any(|address| is_own_address(address.ip())))
        }
    }
}

/// An address that a socket can be bound to is this machine's.
fn is_own_address(address: IpAddr) -> bool {
    address.is_loopback() || !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_and_used_connections_are_not_available() {
        let limit = ConnectionLimit { max: 100, reserved: 3, in_use: 7, per_user: None };
        assert_eq!(limit.available(), 90);
        assert_eq!(ConnectionLimit { per_user: Some(20), ..limit }.available(), 20);
        assert_eq!(ConnectionLimit { in_use: 99, ..limit }.available(), 0);
    }

    #[test]
    fn disk_space_is_told_and_a_missing_path_is_an_error() {
        assert!(free_disk_space(&std::env::temp_dir()).unwrap() > 0);
        assert_eq!(free_disk_space(Path::new("/nonexistent")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn loopback_sockets_and_files_share_the_machine_and_others_do_not() {
        let tcp = |host: &str| Endpoint::Tcp { host: host.to_owned(), port: 3306 };
        for endpoint in [
            tcp("127.0.0.1"),
            tcp("127.8.8.8"),
            tcp("::1"),
            tcp("localhost"),
            Endpoint::Unix("/x".into()),
            Endpoint::InProcess,
        ] {
            assert!(shares_machine(&endpoint), "{endpoint}");
        }
        // Addresses for documentation (RFC 5737) belong to nobody.
        assert!(!shares_machine(&tcp("192.0.2.1")));
        assert!(!shares_machine(&tcp("no-such-host.invalid")));
    }
}
