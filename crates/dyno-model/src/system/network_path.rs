//! Network paths from the clients to a server.

use crate::target::Endpoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A network path from the clients to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointPlan {
    /// Name in levels; unique.
    pub name: String,
    /// Kind of the path.
    pub via: Via,
}

/// The kind of a network path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// An application that dyno starts in front of the server: clients send HTTP requests to it,
    /// and it queries the server.
    Application(ApplicationPlan),
}

/// A proxy that dyno starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProxyPlan {
    /// Kind of proxy.
    pub kind: ProxyKind,
    /// Number of threads; `None`: the proxy's default.
    pub threads: Option<u32>,
}

/// A web application that dyno starts in an application server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationPlan {
    /// The application server.
    pub kind: ApplicationKind,
    /// The application's file.
    pub war: PathBuf,
    /// Number of requests that are served concurrently.
    pub threads: u32,
    /// Size of the application's connection pool to the database.
    pub connections: u32,
}

crate::named! {
    /// Kinds of application servers that dyno can start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ApplicationKind {
        /// Apache Tomcat, from version 10 on.
        Tomcat = "tomcat",
    }
}

crate::named! {
    /// Kinds of proxies that dyno can start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ProxyKind {
        /// HAProxy, which forwards TCP.
        Haproxy = "haproxy",
    }
}
