//! Who talks to whom.

pub use dyno_model::plan::NodeRole;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The generator, the ways of its clients, and the nodes of one or several systems that look alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Systems with their versions; measured one after the other where there are several.
    pub systems: Vec<String>,
    /// Most clients at once.
    pub clients: u32,
    /// Ways of the clients, one or more.
    pub paths: Vec<TopologyPath>,
    /// Nodes: those that clients talk to first.
    pub nodes: Vec<TopologyNode>,
    /// Address of a system that was there already; empty for what dyno started on the generator's
    /// machine.
    pub address: String,
    /// True when it runs on the generator's machine.
    #[serde(default)]
    pub is_local: bool,
}

/// A way of clients to a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopologyPath {
    /// Name of the endpoint; empty without one.
    pub name: String,
    /// What it leads along.
    pub via: PathVia,
    /// The proxy or application server with its version, or the address; empty without.
    pub what: String,
}

/// What a way leads along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathVia {
    /// Nothing, and no endpoint was chosen.
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
    /// Its number among those of its role; absent where there is one by its nature.
    pub number: Option<u32>,
}
