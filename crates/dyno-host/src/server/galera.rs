//! A Galera cluster: MariaDB servers that hold the same data, each in folders of its own, on ports of its own of 127.0.0.1. The first
//! founds it; the others join one after the other and get the data, accounts included, from one that is there (by rsync).

use super::error::query;
use super::mysql_family::{self, MARIADB};
use super::process;
use super::site::{Recipe, Site};
use super::{RunningServer, StartOptions};
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::guard::Launch;
use dyno_model::plan::ManagedServer;
use dyno_model::secret::Secret;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) const GALERA: Recipe = Recipe { reserved: RESERVED, launch, complete, ..MARIADB };

/// Settings that dyno gives.
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

/// Answered when the node has done all that was committed on any node before.
pub(super) const BARRIER: &str = "SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1";

/// Where the library of Debian, of Red Hat and its relatives, and of MariaDB's own archives is.
const PROVIDERS: [&str; 3] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/local/lib/libgalera_smm.so",
];

/// Names another one.
const PROVIDER_VARIABLE: &str = "DYNO_GALERA_PROVIDER";

/// Time between two looks at a cluster that is not whole yet.
const POLL: Duration = Duration::from_millis(50);

/// A server's place in a cluster.
pub(super) struct Seat {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Whom it joins; `None`: it founds the cluster.
    pub(super) founder: Option<Founder>,
    /// Where it listens for the others; chosen anew for each attempt to start it.
    pub(super) ports: Ports,
}

/// The node that the others join.
pub(super) struct Founder {
    /// Where it listens for the others.
    port: u16,
    /// Of dyno's account, which the others get with the data.
    pub(super) password: Secret,
}

/// Where a node listens for the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Ports {
    /// For what is committed.
    group: u16,
    /// For what was committed while it was away.
    incremental: u16,
    /// For all the data.
    snapshot: u16,
}

impl Ports {
    /// Some that `next_port` names.
    pub(super) fn take(next_port: &mut dyn FnMut() -> io::Result<u16>) -> io::Result<Self> {
        Ok(Self { group: next_port()?, incremental: next_port()?, snapshot: next_port()? })
    }
}

/// Starts the nodes and waits until each of them sees all.
pub(super) fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, HostError> {
    let mut first = member(server, options, Seat { number: 1, founder: None, ports: Ports::default() })?;
    for number in 2..=server.nodes {
        let port = first.seat.as_ref().map_or(0, |seat| seat.ports.group);
        let founder = Founder { port, password: first.target.password.clone() };
        let seat = Seat { number, founder: Some(founder), ports: Ports::default() };
        first.joiners.push(member(server, options, seat)?);
    }
    let provider = await_whole(&first, options.ready_timeout)?;
    first.version = format!("{} × {}, Galera {provider}", server.nodes, first.version);
    Ok(first)
}

fn member(server: &ManagedServer, options: &StartOptions, seat: Seat) -> Result<RunningServer, HostError> {
    let number = seat.number;
    let options = StartOptions { name: format!("{}-node{number}", options.name), ..options.clone() };
    process::start(server, &options, Some(seat), &mut process::free_port).map_err(|mut error| {
        error.text = format!("node {number} of {}: {}", server.nodes, error.text);
        error
    })
}

/// Waits until every node is in step with a cluster of all of them. Returns the library's version.
fn await_whole(first: &RunningServer, limit: Duration) -> Result<String, HostError> {
    let nodes = first.nodes().count();
    let deadline = Instant::now() + limit;
    let mut provider = String::new();
    for (index, node) in first.nodes().enumerate() {
        loop {
            let found = states(node).map_err(query(node.kind, "asking for the cluster"))?;
            let of = |name: &str| found.get(name).map_or("", String::as_str);
            if of("wsrep_cluster_size") == nodes.to_string() && of("wsrep_local_state_comment") == "Synced" {
                of("wsrep_provider_version").clone_into(&mut provider);
                break;
            }
            if let Some(ending) = first.ending() {
                return Err(HostError::new(format!("the {} cluster {ending}", node.kind)));
            }
            if Instant::now() >= deadline {
                let (number, seconds) = (index + 1, limit.as_secs());
                let (seen, state) = (of("wsrep_cluster_size"), of("wsrep_local_state_comment"));
                return Err(HostError::new(format!(
                    "node {number} is not in step with the others after {seconds} s: it sees {seen} of {nodes} nodes, its state is \
                     {state:?}"
                )));
            }
            std::thread::sleep(POLL);
        }
    }
    Ok(provider)
}

/// What a node says about its cluster.
fn states(node: &RunningServer) -> Result<BTreeMap<String, String>, dyno_model::failure::OperationFailure> {
    let pairs = ControlConnection::open(&node.target)?.pairs("SHOW GLOBAL STATUS LIKE 'wsrep_%'")?;
    Ok(pairs.into_iter().collect())
}

fn launch(site: &Site<'_>) -> Result<Launch, HostError> {
    let mut launch = mysql_family::launch(site)?;
    let Some(seat) = &site.seat else { return Ok(launch) };
    let Ports { group, incremental, snapshot } = seat.ports;
    let founder =
        seat.founder.as_ref().map_or(String::new(), |founder| format!("127.0.0.1:{}", founder.port));
    launch.arguments.extend([
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider()?.display()),
        "--wsrep-cluster-name=dyno".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{founder}"),
        format!("--wsrep-node-name=node{}", seat.number),
        format!("--wsrep-node-address=127.0.0.1:{group}"),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{snapshot}"),
        format!(
            "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{incremental};\
             ist.recv_bind=127.0.0.1"
        ),
    ]);
    // What replication of rows needs, and MariaDB does not have by default.
    for (name, value) in [("binlog_format", "ROW"), ("innodb_autoinc_lock_mode", "2")] {
        if site.asked(name).is_none() {
            launch.arguments.push(format!("--{name}={value}"));
        }
    }
    Ok(launch)
}

/// True when what nodes need besides the server's program is there.
fn complete() -> Result<(), HostError> {
    provider()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("rsync").is_file()) {
        return Ok(());
    }
    Err(HostError::new(
        "nodes of a Galera cluster get their data by rsync, and no folder of PATH has it\n\
         hint: install it; on Debian, scripts/servers does",
    ))
}

/// The library that MariaDB replicates by.
fn provider() -> Result<PathBuf, HostError> {
    let named = std::env::var_os(PROVIDER_VARIABLE).map(PathBuf::from);
    let places: Vec<&Path> = match &named {
        Some(named) => vec![named],
        None => PROVIDERS.iter().map(Path::new).collect(),
    };
    let found = places.iter().find(|place| place.is_file());
    found.map(|place| place.to_path_buf()).ok_or_else(|| {
        let looked_at: String = places.iter().map(|place| format!("\n  {}", place.display())).collect();
        HostError::new(format!(
            "no library of Galera found; looked for{looked_at}\n\
             hint: install it (Debian calls it galera-4, and scripts/servers installs it), or name it in the environment variable \
             {PROVIDER_VARIABLE}"
        ))
    })
}
