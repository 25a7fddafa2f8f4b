//! Ways from the clients to a server.

use crate::target::Endpoint;
use serde::{Deserialize, Serialize};

/// A way from the clients to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// Name in levels; unique.
    pub name: String,
    /// Where it leads along.
    pub via: Via,
}

/// What a way leads along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// TCP to a server that dyno started.
    Tcp,
    /// The unix socket of a server that dyno started.
    Socket,
    /// Another address of a system that runs already.
    Address(Endpoint),
    /// A proxy that dyno starts in front of the server.
    Proxy(ProxyPlan),
}

/// A proxy that dyno starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyPlan {
    /// What to start.
    pub kind: ProxyKind,
    /// Its threads; `None`: as many as it likes.
    pub threads: Option<u32>,
}

crate::named! {
    /// Kinds of proxies that dyno can start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ProxyKind {
        /// HAProxy, which passes TCP on.
        Haproxy = "haproxy",
    }
}
