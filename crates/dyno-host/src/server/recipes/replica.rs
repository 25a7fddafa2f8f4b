//! How a primary and its replicas are started: PostgreSQL servers, where each replica has a copy of
//! the primary's data.

use super::postgres;
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::server::binary::helper;
use crate::server::cluster_member::{ClusterMember, Membership};
use crate::server::instance::{ACCOUNT, Recipe, ServerInstance, path_text};
use crate::supervisor::Launch;
use dyno_model::failure::OperationFailure;

pub(in crate::server) const RECIPE: Recipe = Recipe {
    reserved: RESERVED,
    complete: |binary| helper(binary, &["pg_basebackup"]).map(|_| ()),
    initialise,
    configure_account,
    ..postgres::RECIPE
};

/// Settings set by dyno.
const RESERVED: &[(&[&str], &str)] = &[(
    &["primary_conninfo", "primary_slot_name", "synchronous_standby_names", "hot_standby"],
    "dyno chooses how a primary and its replicas find each other; `synchronous = true` beside \
     `kind` waits for a replica",
)];

/// A replica starts with a copy of the primary's data. It reads dyno's password from its own file,
/// then and whenever it connects.
fn initialise(instance: &ServerInstance<'_>) -> Result<Vec<Launch>, HostError> {
    let Some(ClusterMember { membership: Membership::Replica { primary: Some(port) }, .. }) =
        &instance.cluster_member
    else {
        return (postgres::RECIPE.initialise)(instance);
    };
    let line = format!("127.0.0.1:{port}:*:{ACCOUNT}:{}\n", instance.password.reveal());
    let passwords = instance.directories.write_private("replication", &line)?;
    let arguments = [
        "--pgdata".to_owned(),
        path_text(&instance.directories.data()),
        "--host=127.0.0.1".to_owned(),
        format!("--port={port}"),
        format!("--username={ACCOUNT}"),
        "--no-password".to_owned(),
        "--write-recovery-conf".to_owned(),
        "--wal-method=stream".to_owned(),
        "--checkpoint=fast".to_owned(),
    ];
    let mut launch = instance.directories.launch(
        helper(&instance.binary, &["pg_basebackup"])?,
        arguments.into(),
        instance.directories.initialise_log(),
    );
    launch.environment.push(("PGPASSFILE".to_owned(), path_text(&passwords)));
    Ok(vec![launch])
}

/// A replica inherits the extensions of its primary.
fn configure_account(
    instance: &ServerInstance<'_>,
    session: &mut ControlConnection,
) -> Result<(), OperationFailure> {
    match instance.cluster_member.as_ref().is_some_and(ClusterMember::is_replica) {
        true => Ok(()),
        false => (postgres::RECIPE.configure_account)(instance, session),
    }
}
