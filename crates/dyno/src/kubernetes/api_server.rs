//! Requests to the API server of the cluster that this process runs in, with the account of its
//! pod.

use dyno_drivers::http::Exchange;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_files::read_text;
use dyno_model::printable::line;
use dyno_model::target::{Endpoint, Engine, Target, Tls};
use serde_json::Value;
use std::env;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

/// Folder of the account's files.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Variables that every container has.
const HOST: &str = "KUBERNETES_SERVICE_HOST";
const PORT: &str = "KUBERNETES_SERVICE_PORT";
/// Timeout of a request.
const LIMIT: Duration = Duration::from_secs(10);
/// Longest answer, in bytes: a pod takes some 10 kB.
const ANSWER_MAX: u64 = 256 << 20;
/// Longest file of the account, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// True in a pod.
pub(crate) fn is_in_cluster() -> bool {
    env::var_os(HOST).is_some()
}

/// The address of this pod: the one from which it reaches the API server. Nothing is sent.
///
/// # Errors
/// Outside of a cluster, and when no network reaches the API server.
pub(crate) fn own_address() -> Result<String, String> {
    let (host, port) = server()?;
    let unreachable = |error: std::io::Error| format!("no network reaches {host}: {error}");
    let socket = UdpSocket::bind(if host.contains(':') { "[::]:0" } else { "0.0.0.0:0" });
    let socket = socket.map_err(unreachable)?;
    socket.connect((host.as_str(), port)).map_err(unreachable)?;
    let address = socket.local_addr().map_err(unreachable)?.ip();
    Ok(if address.is_ipv6() { format!("[{address}]") } else { address.to_string() })
}

fn server() -> Result<(String, u16), String> {
    let host = env::var(HOST).map_err(|_| "this process runs in no pod of Kubernetes".to_owned());
    Ok((host?, env::var(PORT).ok().and_then(|port| port.parse().ok()).unwrap_or(443)))
}

/// The API server.
pub(super) struct ApiServer {
    target: Target,
    connection: Option<Connection>,
    /// The namespace of this pod.
    pub(super) namespace: String,
}

/// A request that was not answered with success.
#[derive(Debug)]
pub(super) struct ApiError {
    /// The status; `None` when there was no answer.
    pub(super) status: Option<u16>,
    pub(super) text: String,
}

impl ApiServer {
    /// The server of this pod's cluster; connects when it is asked.
    ///
    /// # Errors
    /// Outside of a pod, and in a pod without an account.
    pub(super) fn new() -> Result<Self, String> {
        let (host, port) = server()?;
        let namespace = account_file("namespace")?;
        let mut target = Target::new(Engine::Http, Endpoint::Tcp { host, port });
        target.tls = Tls::Verify { ca: Some(Path::new(ACCOUNT).join("ca.crt")) };
        Ok(Self { target, connection: None, namespace })
    }

    pub(super) fn get(&mut self, path: &str) -> Result<Value, ApiError> {
        self.request("GET", path, None)
    }

    pub(super) fn create(&mut self, path: &str, object: &Value) -> Result<Value, ApiError> {
        self.request("POST", path, Some(object))
    }

    /// Deletes an object, and in the background what belongs to it.
    pub(super) fn delete(&mut self, path: &str) -> Result<Value, ApiError> {
        self.request("DELETE", &format!("{path}?propagationPolicy=Background"), None)
    }

    fn request(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let endpoint = self.target.endpoint.to_string();
        let silent = |text: String| ApiError {
            status: None,
            text: format!("the API server at {endpoint} does not answer: {text}"),
        };
        // The token is replaced from time to time.
        let token = account_file("token").map_err(silent)?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {endpoint}\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = Vec::new();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let io = Io::WithTimeout(TimeoutPolicy::new(LIMIT));
                let connecting = Connection::connect(&self.target, &io);
                block_on(connecting).map_err(|failure| silent(failure.to_string()))?
            }
        };
        let Connection::Http(service) = &mut connection else {
            unreachable!("the target is a service")
        };
        let status = block_on(service.exchange(Exchange {
            request: request.as_bytes(),
            is_head: false,
            timeout: LIMIT,
            body_max: ANSWER_MAX,
            body: Some(&mut answer),
            cookies: None,
        }))
        .map_err(|failure| silent(failure.to_string()))?;
        if service.is_open() {
            self.connection = Some(connection);
        }
        let value: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok(value);
        }
        let text = value["message"].as_str().map(|text| line(text).into_owned());
        let text = text.unwrap_or_else(|| format!("the API server answers {status}"));
        Err(ApiError { status: Some(status), text })
    }
}

fn account_file(name: &str) -> Result<String, String> {
    let path = Path::new(ACCOUNT).join(name);
    let text = read_text(&path, FILE_MAX)
        .map_err(|error| format!("{}: {}", path.display(), dyno_files::reason(&error)))?;
    Ok(text.trim().to_owned())
}
