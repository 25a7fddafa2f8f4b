//! A Galera cluster: MariaDB servers that hold the same data. The first founds it; the others join one after the other and get the data,
//! accounts included, from one that is there (by rsync).

use super::member;
use super::seat::{Founder, Membership, Ports, Seat};
use crate::control_connection::{Asked, ControlConnection};
use crate::error::HostError;
use crate::guard::Launch;
use crate::server::error::query;
use crate::server::mysql_family::{self, MARIADB};
use crate::server::process::POLL;
use crate::server::site::{Recipe, Site};
use crate::server::{Binary, RunningServer, StartOptions};
use dyno_model::plan::ManagedServer;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(in crate::server) const GALERA: Recipe = Recipe { reserved: RESERVED, launch, complete, ..MARIADB };

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

/// Where the library of Debian, of Red Hat and its relatives, and of MariaDB's own archives is.
const PROVIDERS: [&str; 3] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/local/lib/libgalera_smm.so",
];

/// Names another one.
const PROVIDER_VARIABLE: &str = "DYNO_GALERA_PROVIDER";

/// Starts the nodes and waits until each of them sees all.
pub(super) fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, HostError> {
    let seat = |number, founder| Seat {
        number,
        membership: Membership::Galera { founder, ports: Ports::default() },
    };
    let mut first = member(server, options, "node", seat(1, None))?;
    for number in 2..=server.nodes {
        let port = match &first.seat {
            Some(Seat { membership: Membership::Galera { ports, .. }, .. }) => ports.group,
            _ => 0,
        };
        let founder = Founder { port, password: first.target.password.clone() };
        first.joiners.push(member(server, options, "node", seat(number, Some(founder)))?);
    }
    let provider = await_whole(&first, options.ready_timeout)?;
    first.version = format!("{} × {}, Galera {provider}", server.nodes, first.version);
    Ok(first)
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
fn states(node: &RunningServer) -> Asked<BTreeMap<String, String>> {
    let pairs = ControlConnection::open(&node.target)?.pairs("SHOW GLOBAL STATUS LIKE 'wsrep_%'")?;
    Ok(pairs.into_iter().collect())
}

fn launch(site: &Site<'_>) -> Result<Launch, HostError> {
    let mut launch = mysql_family::launch(site)?;
    let Some(Seat { number, membership: Membership::Galera { founder, ports } }) = &site.seat else {
        return Ok(launch);
    };
    let Ports { group, incremental, snapshot } = ports;
    let founder = founder.as_ref().map_or(String::new(), |founder| format!("127.0.0.1:{}", founder.port));
    launch.arguments.extend([
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider()?.display()),
        "--wsrep-cluster-name=dyno".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{founder}"),
        format!("--wsrep-node-name=node{number}"),
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
fn complete(_binary: &Binary) -> Result<(), HostError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::ServerKind;

    #[test]
    fn a_node_that_is_out_of_step_is_named_with_its_state() {
        let Some(server) = dyno_testkit::require_server(ServerKind::Galera) else { return };
        let guard = dyno_testkit::guard_command();
        let guard = crate::guard::GuardCommand { program: guard.program, arguments: guard.arguments };
        let options = StartOptions::new("step", guard);
        let server =
            start(&ManagedServer { nodes: 2, ..server }, &options).unwrap_or_else(|error| panic!("{error}"));
        let second = &server.nodes().nth(1).unwrap().target;
        let set = |value: &str| {
            let mut session = ControlConnection::open(second).unwrap();
            session.rows(&format!("SET GLOBAL wsrep_desync = {value}")).unwrap();
        };
        set("ON");
        let error = await_whole(&server, Duration::ZERO).unwrap_err().to_string();
        assert!(
            error.starts_with("node 2 is not in step with the others after 0 s: it sees 2 of 2 nodes"),
            "{error}"
        );
        assert!(error.contains("Desynced"), "{error}");
        set("OFF");
        assert!(await_whole(&server, Duration::from_secs(60)).unwrap().starts_with("4."));
    }
}
