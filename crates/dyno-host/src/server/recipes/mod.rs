//! The recipe of each kind of server.

mod galera;
mod mysql_family;
pub(in crate::server) mod ndb;
mod postgres;
mod replica;

use super::instance::Recipe;
use dyno_model::plan::ServerKind;

/// How a server of this kind is found, started and stopped; `None` for kinds that are no processes.
pub(in crate::server) fn recipe(kind: ServerKind) -> Option<&'static Recipe> {
    match kind {
        ServerKind::Mariadb => Some(&mysql_family::MARIADB),
        ServerKind::Galera => Some(&galera::GALERA),
        ServerKind::Mysql => Some(&mysql_family::MYSQL),
        ServerKind::Ndb => Some(&ndb::NDB),
        ServerKind::Postgres => Some(&postgres::RECIPE),
        ServerKind::PostgresReplica => Some(&replica::RECIPE),
        ServerKind::Sqlite | ServerKind::Null => None,
    }
}
