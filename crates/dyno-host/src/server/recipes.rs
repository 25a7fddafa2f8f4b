//! Which recipe a kind of server is started by.

use super::instance::Recipe;
use super::{galera, mysql_family, ndb, postgres, replica};
use dyno_model::plan::ServerKind;

/// How a server of this kind is found, started and stopped; `None` for kinds that are no processes.
pub(super) fn recipe(kind: ServerKind) -> Option<&'static Recipe> {
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
