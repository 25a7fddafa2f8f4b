//! How a node of a Galera cluster is started: a MariaDB server with the options to find the other
//! nodes.

use super::mysql_family::{self, MARIADB};
use crate::error::HostError;
use crate::server::Binary;
use crate::server::cluster_member::{ClusterMember, Membership, Ports};
use crate::server::instance::{Recipe, ServerInstance};
use crate::supervisor::Launch;
use std::path::{Path, PathBuf};

pub(in crate::server) const GALERA: Recipe =
    Recipe { reserved: RESERVED, launch, complete, ..MARIADB };

/// Settings set by dyno.
const RESERVED: &[(&[&str], &str)] = &[(
    &[
        "wsrep_cluster_address",
        "wsrep_cluster_name",
        "wsrep_node_address",
        "wsrep_node_name",
        "wsrep_on",
        "wsrep_provider",
        "wsrep_provider_options",
        "wsrep_sst_auth",
        "wsrep_sst_method",
        "wsrep_sst_receive_address",
    ],
    "dyno chooses how the nodes of a cluster find each other",
)];

/// Paths of the library on Debian, on Red Hat and its relatives, and in MariaDB's own archives.
const PROVIDERS: [&str; 3] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/local/lib/libgalera_smm.so",
];

/// Environment variable with another path.
const PROVIDER_VARIABLE: &str = "DYNO_GALERA_PROVIDER";

fn launch(instance: &ServerInstance<'_>) -> Result<Launch, HostError> {
    let mut launch = mysql_family::launch(instance)?;
    let Some(ClusterMember {
        node_number, membership: Membership::Peer { founder, ports }, ..
    }) = &instance.cluster_member
    else {
        return Ok(launch);
    };
    let Ports { group, incremental, snapshot } = ports;
    let founder = founder.map_or(String::new(), |port| format!("127.0.0.1:{port}"));
    launch.arguments.extend([
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider()?.display()),
        "--wsrep-cluster-name=dyno".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{founder}"),
        format!("--wsrep-node-name=node{node_number}"),
        format!("--wsrep-node-address=127.0.0.1:{group}"),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{snapshot}"),
        format!(
            "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{incremental};ist.recv_bind=127.0.0.1"
        ),
    ]);
    // Needed for row replication, and not MariaDB's default.
    launch.arguments.extend(instance.default_option("binlog_format", "ROW"));
    launch.arguments.extend(instance.default_option("innodb_autoinc_lock_mode", "2"));
    Ok(launch)
}

/// Checks that everything besides the server's program is installed.
fn complete(_binary: &Binary) -> Result<(), HostError> {
    provider()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("rsync").is_file()) {
        return Ok(());
    }
    Err(HostError::new(
        "nodes of a Galera cluster get their data by rsync, which is not in PATH\n\
         hint: install it; on Debian, scripts/servers does",
    ))
}

/// MariaDB's replication library.
fn provider() -> Result<PathBuf, HostError> {
    let named = std::env::var_os(PROVIDER_VARIABLE).map(PathBuf::from);
    let candidates: Vec<&Path> = match &named {
        Some(named) => vec![named],
        None => PROVIDERS.iter().map(Path::new).collect(),
    };
    let found = candidates.iter().find(|path| path.is_file());
    found.map(|path| path.to_path_buf()).ok_or_else(|| {
        let looked_at: String =
            candidates.iter().map(|path| format!("\n  {}", path.display())).collect();
        HostError::new(format!(
            "no Galera library found; searched{looked_at}\n\
             hint: install it (Debian calls it galera-4, and scripts/servers installs it), or name \
             it in the environment variable {PROVIDER_VARIABLE}"
        ))
    })
}
