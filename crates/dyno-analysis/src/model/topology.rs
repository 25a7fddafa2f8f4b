//! Network topology: generator, network paths and servers.

pub use dyno_model::plan::NodeRole;

use dyno_model::version::ServerVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A system with its product and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemVersion {
    /// Its name.
    pub name: String,
    /// The product of its servers; empty when it is unknown or has none.
    pub product: String,
    /// Its version; empty when it is unknown.
    pub version: ServerVersion,
}

/// The generator, the network paths of its clients, and the nodes of one or several systems with
/// the same topology.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Systems with their versions; measured one after the other where there are several.
    pub systems: Vec<SystemVersion>,
    /// Largest number of concurrent clients.
    pub clients: u32,
    /// The machines of the load generators of distributed trials; empty when the clients were in
    /// one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator_hosts: Vec<GeneratorHost>,
    /// True when the load generators were started on the coordinator's machine.
    pub are_generators_local: bool,
    /// Network paths of the clients, one or more.
    pub paths: Vec<TopologyPath>,
    /// Nodes: first those that clients connect to.
    pub nodes: Vec<TopologyNode>,
    /// Address of an existing system; empty for systems that dyno started on the generator's
    /// machine.
    pub address: String,
    /// True when it runs on the coordinator's machine, which is that of the load generator unless
    /// there are several.
    pub is_local: bool,
}

/// A machine of load generators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorHost {
    /// Its name, as it reports it.
    pub host: String,
    /// Number of load generators on it.
    pub generators: u32,
    /// Clients that they drove together.
    pub clients: u32,
}

/// A network path from clients to a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopologyPath {
    /// Name of the endpoint; empty without one.
    pub name: String,
    /// What it passes through.
    pub via: PathVia,
    /// The proxy or application server with its version, or the address; empty otherwise.
    pub what: String,
}

/// What a network path passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathVia {
    /// Nothing; the spec selects no endpoint.
    Direct,
    /// TCP.
    Tcp,
    /// A unix socket.
    Socket,
    /// Another address.
    Address,
    /// A proxy.
    Proxy,
    /// An application server.
    Application,
}

/// A node of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopologyNode {
    /// What it does.
    pub role: NodeRole,
    /// Its number among those of its role; absent where only one can exist.
    pub number: Option<u32>,
}
