//! Maps error numbers to failure kinds.
//!
//! Sources: MySQL 9 "Server Error Message Reference", MariaDB "Error Codes", TiDB "Error Codes". Up
//! to 1799 MySQL and MariaDB use the same numbers; above, they differ, so those are looked up by
//! product.

use super::protocol::Malformed;
use super::protocol::reply::ServerError;
use dyno_model::engine::Product;
use dyno_model::failure::{FailureKind, OperationFailure};

/// Converts an error packet.
#[must_use]
pub fn failure(product: Product, error: ServerError) -> OperationFailure {
    let kind = kind(product, error.code, &error.sqlstate);
    OperationFailure {
        code: error.code.into(),
        sqlstate: error.sqlstate,
        ..kind.failure(error.message)
    }
}

impl From<Malformed> for OperationFailure {
    fn from(malformed: Malformed) -> Self {
        FailureKind::Protocol.failure(malformed.to_string())
    }
}

/// The kind of an error number; unknown numbers are classified by the class of their SQLSTATE.
#[must_use]
pub fn kind(product: Product, code: u16, sqlstate: &str) -> FailureKind {
    let own = match product {
        Product::Mariadb => mariadb(code),
        _ => mysql(code),
    };
    own.or_else(|| shared(code)).unwrap_or_else(|| by_sqlstate(sqlstate))
}

/// Numbers that only MySQL (and, above 8000, TiDB) uses, or uses differently.
fn mysql(code: u16) -> Option<FailureKind> {
    use FailureKind as Kind;
    Some(match code {
        // NDB failed permanently, usually because the SQL node cannot reach the cluster ("Got error
        // 157 from NDBCLUSTER").
        1296 => Kind::NotReady,
        // A storage engine failed during a commit. NDB reports an "unknown result" with this
        // number: "it is not known whether a transaction was committed" (NDB API Developer Guide,
        // "NdbError Types"). According to MariaDB's manual it means a rollback.
        1180 => Kind::OutcomeUnknown,
        // NDB had a temporary error (redo buffers full, a node failing) and rolled back; the
        // transaction may be retried. Unknown results are not among these (NDB API Developer Guide,
        // "NDB Error Classifications"): they are reported as 1180 and 1296.
        1297 => Kind::Serialization,
        // A SELECT exceeded MAX_EXECUTION_TIME.
        3024 => Kind::Timeout,
        // The server is in offline mode.
        3032 => Kind::NotReady,
        // GET_LOCK or the locking service found a deadlock.
        3058 | 3132 => Kind::Deadlock,
        // Group replication rolled the transaction back at COMMIT: another member had changed the
        // row.
        3101 => Kind::Serialization,
        // The account is locked, expired, blocked after wrong passwords, or requires TLS.
        3118 | 3159 | 3955 => Kind::Authentication,
        // The server accepts no statements at the moment.
        3168 => Kind::NotReady,
        // FOR UPDATE NOWAIT found a locked row.
        3572 => Kind::LockWait,
        // LOAD DATA LOCAL is disabled.
        3948 => Kind::Unsupported,
        // The schema is read-only.
        3989 => Kind::ReadOnly,
        // The session was idle longer than wait_timeout; sent just before the connection closes.
        4031 => Kind::ConnectionLost,
        // TiDB: conflicts that an optimistic transaction finds at COMMIT, concurrent changes of the
        // schema, and a snapshot that has been collected as garbage.
        8002 | 8005 | 8022 | 8027 | 8028 | 9006 | 9007 => Kind::Serialization,
        // TiDB: a lock could not be resolved in time.
        9004 => Kind::LockWait,
        // TiDB and ProxySQL: the layer behind the SQL layer does not answer.
        9001 | 9002 | 9003 | 9005 => Kind::NotReady,
        _ => return None,
    })
}

/// Numbers that only MariaDB uses, or uses differently.
fn mariadb(code: u16) -> Option<FailureKind> {
    use FailureKind as Kind;
    Some(match code {
        // KILL ended the session, and the connection closes. The outcome of a COMMIT in progress is
        // unknown.
        1927 => Kind::ConnectionLost,
        // The statement exceeded max_statement_time.
        1969 => Kind::Timeout,
        // The account is locked.
        4151 => Kind::Authentication,
        // LOAD DATA LOCAL is disabled.
        4166 => Kind::Unsupported,
        _ => return None,
    })
}

/// Numbers with the same meaning in all products.
fn shared(code: u16) -> Option<FailureKind> {
    use FailureKind as Kind;
    Some(match code {
        // Too many connections, or too many sessions of this account.
        1040 | 1203 | 1226 => Kind::OutOfConnections,
        // No thread could be created for the connection.
        1135 => Kind::OutOfConnections,
        // Wrong user or password, or an account without a password.
        1045 | 1698 | 1873 => Kind::Authentication,
        // This host may not connect, or is blocked after too many failed attempts.
        1129 | 1130 => Kind::Authentication,
        // The password has expired.
        1820 | 1862 => Kind::Authentication,
        // Client and server have no authentication method in common.
        1251 | 1275 | 1524 => Kind::Authentication,
        // The server is starting up, shutting down, or was told to.
        1053 | 1077 | 1078 | 1079 => Kind::NotReady,
        // Galera, in MariaDB and Percona XtraDB Cluster: the node has not joined or has lost the
        // cluster ("WSREP has not yet prepared node for application use"). Otherwise the number
        // means an unknown command, which dyno never sends.
        1047 => Kind::NotReady,
        // The server closes the connection: killed, aborted, network errors.
        1080 | 1152 | 1158..=1161 | 1184 => Kind::ConnectionLost,
        // Numbers of client libraries, passed on by proxies: could not connect; server has gone
        // away; lost during the statement.
        2002 | 2003 => Kind::ConnectRefused,
        2006 | 2013 | 2055 => Kind::ConnectionLost,
        // Packets out of order, not decompressible, or malformed.
        1155..=1157 | 1835 => Kind::Protocol,
        // InnoDB found a cycle of waiting transactions and rolled this one back; Galera also
        // reports failed certification so.
        1213 => Kind::Deadlock,
        // An XA transaction was rolled back because of a deadlock.
        1614 => Kind::Deadlock,
        // The row has changed since it was read: MariaDB's snapshot isolation, NDB's conflict
        // detection.
        1020 => Kind::Serialization,
        // Tables were changed during the transaction ("please retry transaction"), or after a
        // statement was prepared.
        1412 | 1615 => Kind::Serialization,
        // innodb_lock_wait_timeout; only the statement was rolled back, unless
        // innodb_rollback_on_timeout is set. Also NDB and NOWAIT.
        1205 => Kind::LockWait,
        // An XA transaction waited too long and was rolled back.
        1613 => Kind::LockWait,
        // Duplicate value of a unique key.
        1022 | 1062 | 1169 | 1586 | 1761 | 1762 | 1859 => Kind::DuplicateKey,
        // KILL QUERY, or a session killed while a statement ran.
        1317 => Kind::Cancelled,
        // read_only or a similar option; super_read_only; a read-only InnoDB; a read-only table or
        // transaction, or a backup lock.
        1290 | 1836 | 1874 | 1036 | 1207 | 1792 | 1223 => Kind::ReadOnly,
        // The account lacks the privilege for the database, table, column, routine or statement.
        1044 | 1142 | 1143 | 1227 | 1370 | 1410 | 1419 => Kind::Permission,
        // Syntax error, empty statement, wrong number of values, wrong or too many parameters.
        1064 | 1065 | 1136 | 1149 | 1210 | 1243 | 1390 => Kind::BadStatement,
        // No database selected; unknown or existing database.
        1046 | 1049 | 1007 | 1008 => Kind::BadStatement,
        // Unknown, existing or ambiguous table, column, key, routine.
        1050 | 1051 | 1052 | 1054 | 1060 | 1061 | 1072 | 1091 | 1109 | 1146 | 1305 => {
            Kind::BadStatement
        }
        // Unknown or unsuitable character set, variable, time zone or storage engine; a read-only
        // variable.
        1115 | 1193 | 1231 | 1232 | 1238 | 1273 | 1286 | 1298 => Kind::BadStatement,
        // The statement exceeds max_allowed_packet, and the connection closes.
        1153 => Kind::BadStatement,
        // Out of disk space, memory, sort memory or handles; table, lock table, undo slots or
        // binary log cache full.
        1021 | 1026 | 1037 | 1038 | 1041 | 1114 | 1197 | 1206 | 1637 => Kind::OutOfResources,
        // Numbers of the mysys library: cannot write, out of memory, disk full.
        3 | 5 | 20 => Kind::OutOfResources,
        // All sessions together have reached max_prepared_stmt_count.
        1461 => Kind::OutOfResources,
        // The server does not support it: at all, as a prepared statement, or for this client.
        1148 | 1235 | 1295 => Kind::Unsupported,
        _ => return None,
    })
}

fn by_sqlstate(sqlstate: &str) -> FailureKind {
    match sqlstate.get(..2) {
        // Connection exceptions.
        Some("08") => FailureKind::ConnectionLost,
        // Invalid authorisation.
        Some("28") => FailureKind::Authentication,
        // It is unknown whether the statement was completed.
        Some("40") if sqlstate == "40003" => FailureKind::OutcomeUnknown,
        // Transaction rollback.
        Some("40") => FailureKind::Serialization,
        // Syntax error or access rule violation.
        Some("42") => FailureKind::BadStatement,
        _ => FailureKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_classified_by_product() {
        let cases = [
            (Product::Mysql, 1213, "40001", FailureKind::Deadlock),
            (Product::Mariadb, 1020, "HY000", FailureKind::Serialization),
            (Product::Mysql, 1205, "HY000", FailureKind::LockWait),
            (Product::Mysql, 1062, "23000", FailureKind::DuplicateKey),
            (Product::Mysql, 1040, "08004", FailureKind::OutOfConnections),
            (Product::Mysql, 1045, "28000", FailureKind::Authentication),
            (Product::Mysql, 1044, "42000", FailureKind::Permission),
            (Product::Mysql, 1053, "08S01", FailureKind::NotReady),
            (Product::Mysql, 1297, "HY000", FailureKind::Serialization),
            // In MariaDB other engines than NDB report this.
            (Product::Mariadb, 1297, "HY000", FailureKind::Other),
            (Product::Mysql, 1180, "HY000", FailureKind::OutcomeUnknown),
            (Product::Mariadb, 1180, "HY000", FailureKind::Other),
            (Product::Mysql, 3024, "HY000", FailureKind::Timeout),
            (Product::Mariadb, 1969, "70100", FailureKind::Timeout),
            // Percona XtraDB Cluster identifies itself as MySQL.
            (Product::Mysql, 1047, "08S01", FailureKind::NotReady),
            (Product::Mariadb, 1047, "08S01", FailureKind::NotReady),
            // A check constraint in MariaDB, an idle session in MySQL.
            (Product::Mariadb, 4031, "HY000", FailureKind::Other),
            (Product::Mysql, 4031, "HY000", FailureKind::ConnectionLost),
            // Unknown numbers are classified by SQLSTATE.
            (Product::Mysql, 60_000, "40001", FailureKind::Serialization),
            (Product::Mysql, 60_000, "40003", FailureKind::OutcomeUnknown),
            // TiDB: write conflict; the snapshot is too old.
            (Product::Mysql, 9007, "HY000", FailureKind::Serialization),
            (Product::Mysql, 9006, "HY000", FailureKind::Serialization),
            (Product::Mysql, 60_000, "42S99", FailureKind::BadStatement),
            (Product::Mysql, 60_000, "", FailureKind::Other),
            (Product::Mysql, 60_000, "é", FailureKind::Other),
            // A value out of range is an error of the data, not of the statement.
            (Product::Mysql, 1264, "22003", FailureKind::Other),
        ];
        for (product, code, sqlstate, expected) in cases {
            assert_eq!(kind(product, code, sqlstate), expected, "{product:?} {code} {sqlstate}");
        }
    }
}
