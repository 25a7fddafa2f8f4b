//! MySQL NDB Cluster: a management node, which knows who belongs to it; data nodes; and MySQL servers, which answer SQL from them.
//!
//! The figures of the [`manual`](https://dev.mysql.com/doc/refman/en/mysql-cluster.html) that are used: node numbers of data nodes are the
//! first 144, all others may go up to 255.

use super::inner::InnerNode;
use super::member;
use super::seat::{Membership, Seat};
use crate::control_connection::{Asked, ControlConnection};
use crate::error::{HostError, quoted};
use crate::guard::Launch;
use crate::server::binary::{helper, newest_first};
use crate::server::error::{log_of, query, setting_refused, settings_differ};
use crate::server::mysql_family::{self, MYSQL};
use crate::server::process::{POLL, PORT_ATTEMPTS, free_port, system};
use crate::server::site::{Recipe, Site};
use crate::server::validate::words;
use crate::server::{Binary, RunningServer, StartOptions, locate, log};
use crate::settings::{self, Setting};
use dyno_model::plan::ManagedServer;
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(in crate::server) const NDB: Recipe = Recipe {
    folders: |environment| {
        // Where scripts/servers puts it.
        let servers =
            environment("DYNO_SERVERS_DIR").map_or_else(|| "/opt/dyno-servers".into(), PathBuf::from);
        newest_first(&servers, "ndb-", "bin").into_iter().chain((MYSQL.folders)(environment)).collect()
    },
    reserved: RESERVED,
    check: |server| (MYSQL.check)(&of_sql(server)),
    check_further,
    complete: |binary| Programs::of(binary).map(|_| ()),
    launch,
    ..MYSQL
};

/// Settings that dyno gives.
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
const MANAGEMENT: u32 = 100;

/// Time that a question to the management node may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Programs of the nodes that do not speak SQL.
struct Programs {
    management: PathBuf,
    data: PathBuf,
}

impl Programs {
    fn of(binary: &Binary) -> Result<Self, HostError> {
        Ok(Self { management: helper(binary, &["ndb_mgmd"])?, data: helper(binary, &["ndbmtd", "ndbd"])? })
    }
}

/// True for the name of a parameter of data nodes: these begin with a capital letter, as in their manual.
fn is_parameter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The server with the settings of its SQL nodes only.
fn of_sql(server: &ManagedServer) -> ManagedServer {
    let mut server = server.clone();
    server.settings.retain(|name, _| !is_parameter(name));
    server
}

fn launch(site: &Site<'_>) -> Result<Launch, HostError> {
    let mut launch = mysql_family::launch(site)?;
    let Some(Seat { number, membership: Membership::Ndb { management, .. } }) = &site.seat else {
        return Ok(launch);
    };
    launch.arguments.extend([
        "--ndbcluster".to_owned(),
        format!("--ndb-connectstring=127.0.0.1:{management}"),
        format!("--ndb-nodeid={}", MANAGEMENT + number),
    ]);
    // Tables lie in the data nodes unless they say otherwise; servers of a cluster need numbers of their own.
    for (name, value) in
        [("default_storage_engine", "NDBCLUSTER".to_owned()), ("server_id", number.to_string())]
    {
        if site.asked(name).is_none() {
            launch.arguments.push(format!("--{name}={value}"));
        }
    }
    Ok(launch)
}

/// Starts the management node, the data nodes, and when those hold together the SQL nodes.
pub(super) fn start(server: &ManagedServer, options: &StartOptions) -> Result<RunningServer, HostError> {
    let programs = Programs::of(&locate(server.kind, server.bin_dir.as_deref())?)?;
    let deadline = Instant::now() + options.ready_timeout;
    let (inner, port) = start_inner(server, options, &programs)?;
    await_data_nodes(&inner, port, deadline)?;
    let sql = of_sql(server);
    let mut first: Option<RunningServer> = None;
    for number in 1..=server.nodes {
        let password = first.as_ref().map(|first| first.target.password.clone());
        let seat = Seat { number, membership: Membership::Ndb { management: port, password } };
        let started =
            member(&sql, options, "SQL node", seat).map_err(|error| of_lost(&inner).unwrap_or(error))?;
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
    first.version = format!("{} × {}, {} data nodes", server.nodes, first.version, server.data_nodes);
    Ok(first)
}

/// A node that ended meanwhile, which is why the others fail.
fn of_lost(inner: &[InnerNode]) -> Option<HostError> {
    inner.iter().find_map(|node| Some(node.lost(&node.ending()?)))
}

/// Starts the management node and the data nodes. Returns them with the management node's port.
fn start_inner(
    server: &ManagedServer,
    options: &StartOptions,
    programs: &Programs,
) -> Result<(Vec<InnerNode>, u16), HostError> {
    let mut management = InnerNode::prepare(server, options, "the management node".to_owned())?;
    let data_nodes: Result<Vec<InnerNode>, HostError> = (1..=server.data_nodes)
        .map(|number| InnerNode::prepare(server, options, format!("data node {number}")))
        .collect();
    let mut data_nodes = data_nodes?;
    let port = start_management(server, options, &mut management, &data_nodes, &programs.management)?;
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

/// Starts the management node on a port that is free. Returns the port.
fn start_management(
    server: &ManagedServer,
    options: &StartOptions,
    node: &mut InnerNode,
    data_nodes: &[InnerNode],
    program: &Path,
) -> Result<u16, HostError> {
    for attempt in 1.. {
        let port = free_port().map_err(system("asking for a free TCP port on 127.0.0.1"))?;
        let folders: Vec<PathBuf> = data_nodes.iter().map(InnerNode::data).collect();
        let config = node.write("config.ini", &configuration(server, port, &node.data(), &folders))?;
        let arguments = [
            "--no-defaults".to_owned(),
            "--nodaemon".to_owned(),
            "--initial".to_owned(),
            format!("--config-file={}", config.display()),
            format!("--configdir={}", node.data().display()),
            "--bind-address=127.0.0.1".to_owned(),
        ];
        node.launch(program, arguments.into())?;
        let deadline = Instant::now() + options.ready_timeout;
        loop {
            if let Some(ending) = node.ending() {
                if log::is_port_taken(&node.words()) && attempt < PORT_ATTEMPTS {
                    break;
                }
                return Err(refusal(server, &node.words()).unwrap_or_else(|| node.lost(&ending)));
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

/// Asks the management node's program what it thinks of the cluster, without starting it. The file that it reads is in memory.
fn check_further(server: &ManagedServer, binary: &Binary) -> Result<(), HostError> {
    let nowhere = std::env::temp_dir();
    let folders: Vec<PathBuf> = (0..server.data_nodes).map(|_| nowhere.clone()).collect();
    let in_memory = || -> io::Result<File> {
        let mut file = File::from(memfd_create("config.ini", MemfdFlags::CLOEXEC)?);
        file.write_all(configuration(server, 1, &nowhere, &folders).as_bytes())?;
        Ok(file)
    };
    let file = in_memory().map_err(system("writing to memory"))?;
    let mut command = Command::new(Programs::of(binary)?.management);
    command
        .args(["--no-defaults", "--print-full-config"])
        .arg(format!("--config-file=/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
        .arg(format!("--configdir={}", nowhere.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    refusal(server, &words(&mut command)).map_or(Ok(()), Err)
}

/// What the management node has against the cluster, in its words: if they name a parameter, that.
fn refusal(server: &ManagedServer, words: &[String]) -> Option<HostError> {
    let of_parameter =
        server.settings.iter().filter(|(name, _)| is_parameter(name)).find_map(|(name, value)| {
            let complaints = log::complaints(words, name);
            (!complaints.is_empty()).then(|| setting_refused(server.kind, name, value, &complaints))
        });
    // A line of the configuration is named; what else it says follows from that.
    let complaints: Vec<String> =
        words.iter().filter(|line| line.contains(" -- at line ")).cloned().collect();
    of_parameter.or_else(|| {
        let (server, words) = (server.to_string(), quoted(&complaints));
        (!complaints.is_empty())
            .then(|| HostError::new(format!("there can be no {server}. The management node says:{words}")))
    })
}

/// What the management node tells all others.
fn configuration(server: &ManagedServer, port: u16, management: &Path, data_nodes: &[PathBuf]) -> String {
    let mut text = String::from("[ndbd default]\nHostName=127.0.0.1\n");
    for (name, value) in server.settings.iter().filter(|(name, _)| is_parameter(name)) {
        let _ = writeln!(text, "{name}={value}");
    }
    let _ = write!(
        text,
        "[ndb_mgmd]\nNodeId={MANAGEMENT}\nHostName=127.0.0.1\nPortNumber={port}\nDataDir={}\n",
        management.display()
    );
    for (number, folder) in (1..).zip(data_nodes) {
        let _ = write!(text, "[ndbd]\nNodeId={number}\nDataDir={}\n", folder.display());
    }
    for number in 1..=server.nodes {
        let _ = write!(text, "[mysqld]\nNodeId={}\nHostName=127.0.0.1\n", MANAGEMENT + number);
    }
    text
}

/// Waits until all data nodes hold together.
fn await_data_nodes(inner: &[InnerNode], port: u16, deadline: Instant) -> Result<(), HostError> {
    loop {
        if let Some(lost) = of_lost(inner) {
            return Err(lost);
        }
        let states = states(port).unwrap_or_default();
        // The management node comes first.
        let mut nodes = (1_u32..).zip(&inner[1..]);
        let behind = nodes.find(|(number, _)| states.get(number).is_none_or(|state| state != "STARTED"));
        let Some((number, node)) = behind else { return Ok(()) };
        if Instant::now() >= deadline {
            let state = states.get(&number).map_or("unknown", String::as_str);
            let log = log_of(&node.words());
            return Err(HostError::of_files(format!(
                "{} has not started in time: its state is {state}{log}",
                node.name
            )));
        }
        std::thread::sleep(POLL);
    }
}

/// The states of the data nodes, as the management node has them, by their numbers. The protocol is one of lines: a question and an answer
/// end with an empty one.
fn states(port: u16) -> io::Result<BTreeMap<u32, String>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.write_all(b"get status\n\n")?;
    let mut states = BTreeMap::new();
    for line in BufReader::new(stream).lines() {
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
fn await_connected(node: &RunningServer, data_nodes: u32, deadline: Instant) -> Result<(), HostError> {
    loop {
        let seen = ready_data_nodes(node).map_err(query(node.kind, "asking for the cluster"))?;
        if seen == data_nodes.to_string() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(HostError::new(format!("an SQL node sees {seen} of {data_nodes} data nodes")));
        }
        std::thread::sleep(POLL);
    }
}

fn ready_data_nodes(node: &RunningServer) -> Asked<String> {
    let pairs = ControlConnection::open(&node.target)?
        .pairs("SHOW GLOBAL STATUS LIKE 'Ndb_number_of_ready_data_nodes'")?;
    Ok(pairs.into_iter().next().map(|(_, value)| value).unwrap_or_default())
}

/// Compares the parameters of the data nodes with what was asked for, and records them.
fn read_parameters(first: &mut RunningServer, server: &ManagedServer) -> Result<(), HostError> {
    let asked: BTreeMap<String, String> = server
        .settings
        .iter()
        .filter(|(name, _)| is_parameter(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let engine = first.kind.engine();
    let found = parameters(first).map_err(query(first.kind, "reading the parameters of its data nodes"))?;
    let problems = settings::problems(engine, &asked, &found);
    if !problems.is_empty() {
        return Err(settings_differ(first.kind, &problems, &[]));
    }
    first.settings.extend(settings::for_the_record(engine, &asked, &found));
    Ok(())
}

/// The parameters of the first data node, by their names in lower case.
fn parameters(first: &RunningServer) -> Asked<BTreeMap<String, Setting>> {
    let pairs = ControlConnection::open(&first.target)?.pairs(
        "SELECT p.param_name, v.config_value FROM ndbinfo.config_values v \
         JOIN ndbinfo.config_params p ON p.param_number = v.config_param WHERE v.node_id = 1",
    )?;
    Ok(pairs.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), Setting::plain(value))).collect())
}
