//! MySQL NDB Cluster: a management node with the configuration, data nodes, and MySQL servers,
//! which execute SQL on them.

use super::member;
use crate::control_connection::{ControlConnection, QueryResult};
use crate::error::HostError;
use crate::server::cluster_member::{ClusterMember, Membership};
use crate::server::error::{log_of, query, settings_differ};
use crate::server::injected_faults::SharedFaults;
use crate::server::inner::InnerNode;
use crate::server::process::{
    POLL, PORT_ATTEMPTS, free_port, make_directories, supervisor_and_parent, system,
};
use crate::server::recipes::ndb::{Programs, configuration, is_parameter, of_sql, refusal};
use crate::server::recipes::recipe;
use crate::server::{RunningServer, StartOptions, account, kept_log, locate, log};
use crate::settings::{self, RoundedSetting, Setting};
use dyno_model::plan::{MANAGEMENT_NODE, ManagedServer};
use dyno_model::version::ServerVersion;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Timeout for a query to the management node.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Most that data nodes add to a configured number of objects; observed: 2 tables, 9 attributes.
const RAISED_MAX: u64 = 32;

/// Starts the management node, the data nodes, and, when those are connected, the SQL nodes.
pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
) -> Result<RunningServer, HostError> {
    let programs = Programs::of(&locate(server.kind, server.bin_dir.as_deref())?)?;
    let deadline = Instant::now() + options.ready_timeout;
    let (inner, port) = start_inner(server, options, &programs)?;
    await_data_nodes(&inner, port, deadline)?;
    let sql = of_sql(server);
    let mut first: Option<RunningServer> = None;
    for node_number in 1..=server.nodes {
        let password = first.as_ref().map(|first| first.target.password.clone());
        let cluster_member = ClusterMember {
            node_number,
            password,
            membership: Membership::Sql { management: port },
        };
        let started = member::start(&sql, options, "SQL node", cluster_member)
            .map_err(|error| of_lost(&inner).unwrap_or(error))?;
        await_connected(&started, server.data_nodes, deadline)
            .map_err(|error| of_lost(&inner).unwrap_or(error))?;
        match &mut first {
            None => first = Some(started),
            Some(first) => first.joiners.push(started),
        }
    }
    let mut first = first.expect("a cluster has at least one SQL node");
    first.inner = inner;
    read_parameters(&mut first, server)?;
    first.version = ServerVersion::Cluster {
        version: first.version.to_string(),
        nodes: server.nodes,
        data_nodes: server.data_nodes,
    };
    Ok(first)
}

/// The error of a node that ended meanwhile, which is the reason why the others fail.
fn of_lost(inner: &[InnerNode]) -> Option<HostError> {
    inner.iter().find_map(|node| Some(node.lost(node.end_reason()?)))
}

/// Starts the management node and the data nodes. Returns them with the management node's port.
fn start_inner(
    server: &ManagedServer,
    options: &StartOptions,
    programs: &Programs,
) -> Result<(Vec<InnerNode>, u16), HostError> {
    let mut management = prepare(server, options, MANAGEMENT_NODE.to_owned())?;
    let data_nodes: Result<Vec<InnerNode>, HostError> = (1..=server.data_nodes)
        .map(|node_number| prepare(server, options, format!("data node {node_number}")))
        .collect();
    let mut data_nodes = data_nodes?;
    let port =
        start_management(server, options, &mut management, &data_nodes, &programs.management)?;
    for (number, node) in (1_u32..).zip(&mut data_nodes) {
        let arguments = [
            "--no-defaults".to_owned(),
            "--foreground".to_owned(),
            "--initial".to_owned(),
            format!("--ndb-connectstring=127.0.0.1:{port}"),
            format!("--ndb-nodeid={number}"),
        ];
        node.launch(&programs.data, arguments.into())?;
    }
    Ok((std::iter::once(management).chain(data_nodes).collect(), port))
}

/// Creates the folders of a node that does not accept clients.
fn prepare(
    server: &ManagedServer,
    options: &StartOptions,
    name: String,
) -> Result<InnerNode, HostError> {
    let user = recipe(server.kind).expect("a cluster has a recipe").user;
    let owner = account::for_server(server.kind, user)?;
    let log_folder = log::create_log_folder(options.log_dir.as_deref())?;
    let (mut supervisor, parent) =
        supervisor_and_parent(server, options, owner, log_folder.as_deref())?;
    let directories =
        make_directories(&mut supervisor, &parent, server.kind, owner, &["data", "tmp"])?;
    let mut node = InnerNode {
        name,
        pid: 0,
        launch: None,
        faults: SharedFaults::default(),
        supervisor,
        directories,
    };
    if let Some(kept) = log_folder {
        let log_copy = kept_log(&kept, &format!("{}-{}", options.name, node.name));
        node.supervisor.keep(node.directories.log(), log_copy)?;
    }
    Ok(node)
}

/// Starts the management node on a free port. Returns the port.
fn start_management(
    server: &ManagedServer,
    options: &StartOptions,
    node: &mut InnerNode,
    data_nodes: &[InnerNode],
    program: &Path,
) -> Result<u16, HostError> {
    for attempt in 1.. {
        let port = free_port().map_err(system("asking for a free TCP port on 127.0.0.1"))?;
        let folders: Vec<PathBuf> = data_nodes.iter().map(|node| node.directories.data()).collect();
        let directories = &node.directories;
        let config = directories.write_private(
            "config.ini",
            &configuration(server, port, &directories.data(), &folders),
        )?;
        let arguments = [
            "--no-defaults".to_owned(),
            "--nodaemon".to_owned(),
            "--initial".to_owned(),
            format!("--config-file={}", config.display()),
            format!("--configdir={}", directories.data().display()),
            "--bind-address=127.0.0.1".to_owned(),
        ];
        node.launch(program, arguments.into())?;
        let deadline = Instant::now() + options.ready_timeout;
        loop {
            if let Some(reason) = node.end_reason() {
                if log::is_port_taken(&node.words()) && attempt < PORT_ATTEMPTS {
                    break;
                }
                return Err(refusal(server, &node.words()).unwrap_or_else(|| node.lost(reason)));
            }
            if states(port).is_ok() {
                return Ok(port);
            }
            if Instant::now() >= deadline {
                return Err(node.lost("does not answer"));
            }
            std::thread::sleep(POLL);
        }
    }
    unreachable!("the last attempt returns")
}

/// Waits until all data nodes are connected.
fn await_data_nodes(inner: &[InnerNode], port: u16, deadline: Instant) -> Result<(), HostError> {
    loop {
        if let Some(lost) = of_lost(inner) {
            return Err(lost);
        }
        let states = states(port).unwrap_or_default();
        // The management node is the first.
        let mut nodes = (1_u32..).zip(&inner[1..]);
        let behind =
            nodes.find(|(number, _)| states.get(number).is_none_or(|state| state != "STARTED"));
        let Some((number, node)) = behind else { return Ok(()) };
        if Instant::now() >= deadline {
            let state = states.get(&number).map_or("unknown", String::as_str);
            let log = log_of(&node.words());
            return Err(HostError::of_files(format!(
                "{} did not start in time: its state is {state}{log}",
                node.name
            )));
        }
        std::thread::sleep(POLL);
    }
}

/// Maximum size in bytes of the management node's report on its nodes (at most 144).
const STATES_MAX: u64 = 1 << 20;

/// The states of the data nodes by id, as reported by the management node. The protocol is
/// line-based: requests and answers end with an empty line.
fn states(port: u16) -> io::Result<BTreeMap<u32, String>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.write_all(b"get status\n\n")?;
    let mut states = BTreeMap::new();
    for line in BufReader::new(stream.take(STATES_MAX)).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let state = || {
            let (number, state) = line.strip_prefix("node.")?.split_once(".status: ")?;
            Some((number.parse().ok()?, state.to_owned()))
        };
        states.extend(state());
    }
    Ok(states)
}

/// Waits until an SQL node sees all data nodes.
fn await_connected(
    node: &RunningServer,
    data_nodes: u32,
    deadline: Instant,
) -> Result<(), HostError> {
    loop {
        let seen = ready_data_nodes(node).map_err(query(node.kind, "asking for the cluster"))?;
        if seen == data_nodes.to_string() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(HostError::new(format!(
                "an SQL node sees {seen} of {data_nodes} data nodes"
            )));
        }
        std::thread::sleep(POLL);
    }
}

fn ready_data_nodes(node: &RunningServer) -> QueryResult<String> {
    let pairs = ControlConnection::open(&node.target)?
        .pairs("SHOW GLOBAL STATUS LIKE 'Ndb_number_of_ready_data_nodes'")?;
    Ok(pairs.into_iter().next().map(|(_, value)| value).unwrap_or_default())
}

/// Compares the parameters of the data nodes with the requested ones, and records them.
fn read_parameters(first: &mut RunningServer, server: &ManagedServer) -> Result<(), HostError> {
    let requested: BTreeMap<String, String> = server
        .settings
        .iter()
        .filter(|(name, _)| is_parameter(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let engine = first.kind.engine();
    let found =
        parameters(first).map_err(query(first.kind, "reading the parameters of its data nodes"))?;
    let mut compared = settings::compared(engine, &requested, &found);
    compared.problems.retain(|problem| {
        let raised = raised(&problem.name, &requested[&problem.name], &found);
        let is_raised = raised.is_some();
        first.rounded.extend(raised);
        !is_raised
    });
    if !compared.problems.is_empty() {
        return Err(settings_differ(first.kind, &compared.problems, &[]));
    }
    first.settings.extend(compared.record);
    Ok(())
}

/// A number that the data nodes raised for their own needs, as they do for tables and attributes.
fn raised(
    name: &str,
    requested: &str,
    found: &BTreeMap<String, Setting>,
) -> Option<RoundedSetting> {
    let found = &found.get(&name.to_ascii_lowercase())?.value;
    let (number, in_force): (u64, u64) = (requested.parse().ok()?, found.parse().ok()?);
    let is_raised = number < in_force && in_force - number <= RAISED_MAX;
    let (name, requested, found) = (name.to_owned(), requested.to_owned(), found.clone());
    is_raised.then_some(RoundedSetting { name, requested, found })
}

/// The parameters of the first data node, by lower-case name.
fn parameters(first: &RunningServer) -> QueryResult<BTreeMap<String, Setting>> {
    let pairs = ControlConnection::open(&first.target)?.pairs(
        "SELECT p.param_name, v.config_value FROM ndbinfo.config_values v \
         JOIN ndbinfo.config_params p ON p.param_number = v.config_param WHERE v.node_id = 1",
    )?;
    Ok(pairs
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), Setting::plain(value)))
        .collect())
}
