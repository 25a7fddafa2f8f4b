//! Configuration of the nodes of MySQL NDB Cluster, and how its MySQL servers are started.
//!
//! Node ids: those of data nodes go up to 144, all others up to 255
//! ([manual](https://dev.mysql.com/doc/refman/en/mysql-cluster-ndbd-definition.html)).

use super::mysql_family::{self, MYSQL};
use crate::ask::words;
use crate::error::{HostError, quoted};
use crate::server::binary::{Binary, helper, newest_first};
use crate::server::cluster_member::{ClusterMember, Membership};
use crate::server::error::setting_refused;
use crate::server::instance::{Recipe, ServerInstance};
use crate::server::log;
use crate::supervisor::Launch;
use dyno_model::plan::ManagedServer;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(in crate::server) const NDB: Recipe = Recipe {
    folders: |environment| {
        // Installed there by scripts/servers.
        let servers = environment("DYNO_SERVERS_DIR")
            .map_or_else(|| "/opt/dyno-servers".into(), PathBuf::from);
        newest_first(&servers, "ndb-", "bin")
            .into_iter()
            .chain((MYSQL.folders)(environment))
            .collect()
    },
    reserved: RESERVED,
    check: |server| (MYSQL.check)(&of_sql(server)),
    check_further,
    complete: |binary| Programs::of(binary).map(|_| ()),
    launch,
    ..MYSQL
};

/// Settings set by dyno.
const RESERVED: &[(&[&str], &str)] = &[(
    &[
        "ndbcluster",
        "ndb_cluster_connection_pool",
        "ndb_connectstring",
        "ndb_mgmd_host",
        "ndb_nodeid",
        "hostname",
        "nodeid",
        "id",
        "portnumber",
        "serverport",
    ],
    "dyno chooses how the nodes of a cluster find each other",
)];

/// Number of the management node; data nodes have those from 1, SQL nodes those behind it.
pub(in crate::server) const MANAGEMENT: u32 = 100;

/// Programs of the nodes that do not speak SQL.
pub(in crate::server) struct Programs {
    pub(in crate::server) management: PathBuf,
    pub(in crate::server) data: PathBuf,
}

impl Programs {
    pub(in crate::server) fn of(binary: &Binary) -> Result<Self, HostError> {
        Ok(Self {
            management: helper(binary, &["ndb_mgmd"])?,
            data: helper(binary, &["ndbmtd", "ndbd"])?,
        })
    }
}

/// True for the name of a parameter of data nodes; these begin with a capital letter, as in the
/// manual.
pub(in crate::server) fn is_parameter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The server with the settings of its SQL nodes only.
pub(in crate::server) fn of_sql(server: &ManagedServer) -> ManagedServer {
    let mut server = server.clone();
    server.settings.retain(|name, _| !is_parameter(name));
    server
}

fn launch(instance: &ServerInstance<'_>) -> Result<Launch, HostError> {
    let mut launch = mysql_family::launch(instance)?;
    let Some(ClusterMember { node_number, membership: Membership::Sql { management }, .. }) =
        &instance.cluster_member
    else {
        return Ok(launch);
    };
    launch.arguments.extend([
        "--ndbcluster".to_owned(),
        format!("--ndb-connectstring=127.0.0.1:{management}"),
        format!("--ndb-nodeid={}", MANAGEMENT + node_number),
    ]);
    // Tables are stored in the data nodes by default; servers of a cluster need different ids.
    launch.arguments.extend(instance.default_option("default_storage_engine", "NDBCLUSTER"));
    launch.arguments.extend(instance.default_option("server_id", &node_number.to_string()));
    Ok(launch)
}

/// Lets the program of the management node check the cluster's configuration without starting it.
/// The file that it reads is in memory.
fn check_further(server: &ManagedServer, binary: &Binary) -> Result<(), HostError> {
    let nowhere = std::env::temp_dir();
    let folders: Vec<PathBuf> = (0..server.data_nodes).map(|_| nowhere.clone()).collect();
    let in_memory = || -> io::Result<File> {
        let mut file = File::from(memfd_create("config.ini", MemfdFlags::CLOEXEC)?);
        file.write_all(configuration(server, 1, &nowhere, &folders).as_bytes())?;
        Ok(file)
    };
    let file = in_memory()
        .map_err(|error| HostError::new(format!("writing to memory failed: {error}")))?;
    let mut command = Command::new(Programs::of(binary)?.management);
    command
        .args(["--no-defaults", "--print-full-config"])
        .arg(format!("--config-file=/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
        .arg(format!("--configdir={}", nowhere.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    refusal(server, &words(&mut command)).map_or(Ok(()), Err)
}

/// The error message of the management node; the parameter, if it names one.
pub(in crate::server) fn refusal(server: &ManagedServer, words: &[String]) -> Option<HostError> {
    let of_parameter =
        server.settings.iter().filter(|(name, _)| is_parameter(name)).find_map(|(name, value)| {
            let complaints = log::complaints(words, name);
            (!complaints.is_empty()).then(|| setting_refused(server.kind, name, value, &complaints))
        });
    // The error names a line of the configuration; its other messages are consequences.
    let complaints: Vec<String> =
        words.iter().filter(|line| line.contains(" -- at line ")).cloned().collect();
    of_parameter.or_else(|| {
        let (server, words) = (server.to_string(), quoted(&complaints));
        (!complaints.is_empty()).then(|| {
            HostError::new(format!(
                "the configuration of {server} is invalid. Output of the management node:{words}"
            ))
        })
    })
}

/// What the management node tells all others. Its own log goes where its output goes; it would make
/// a file even when it is only asked.
pub(in crate::server) fn configuration(
    server: &ManagedServer,
    port: u16,
    management: &Path,
    data_nodes: &[PathBuf],
) -> String {
    let mut text = String::from("[ndbd default]\nHostName=127.0.0.1\n");
    for (name, value) in server.settings.iter().filter(|(name, _)| is_parameter(name)) {
        let _ = writeln!(text, "{name}={value}");
    }
    let _ = write!(
        text,
        "[ndb_mgmd]\nNodeId={MANAGEMENT}\nHostName=127.0.0.1\nPortNumber={port}\nLogDestination=CONSOLE\nDataDir={}\n",
        management.display()
    );
    for (number, folder) in (1..).zip(data_nodes) {
        let _ = write!(text, "[ndbd]\nNodeId={number}\nDataDir={}\n", folder.display());
    }
    for node_number in 1..=server.nodes {
        let _ = write!(text, "[mysqld]\nNodeId={}\nHostName=127.0.0.1\n", MANAGEMENT + node_number);
    }
    text
}
