//! `http`: requests to a service, as the spec describes them (`[[workload.request]]`), each with
//! separate response times.
//!
//! The check of an answer is part of the measured operation: an unexpected status, a redirect, or a
//! body without the required content is a failure with a kind, counted like a database error.

use super::contract::{AuditFacts, Workload};
use super::sbtest::{choice, distribution, distribution_options, flag_on, integer};
use crate::client_id::ClientId;
use crate::data_set::{DataSet, NoData};
use crate::distribution::Distribution;
use crate::random::Random;
use crate::session::Session;
use crate::text::intern;
use dyno_drivers::http::{self, Cookies, Exchange};
use dyno_drivers::{Connection, Outcome};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{HTTP, WorkloadDescription};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::{RequestPlan, WorkloadPlan};
use dyno_model::target::Engine;
use dyno_model::template::{Parameter, Template};
use std::io::Write;
use std::time::Duration;

/// Statuses by which a service sends the client elsewhere (RFC 9110, section 15.4).
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

pub(super) fn description() -> WorkloadDescription {
    let mut options = vec![
        choice(
            "order",
            &["weighted", "sequence"],
            "weighted: a transaction is one request, drawn by weight; sequence: a transaction \
             consists of all requests, in the order of the spec",
        ),
        integer("timeout_ms", 1, 3_600_000, 30_000, "timeout of a request, milliseconds"),
        integer(
            "body_max_bytes",
            1,
            1 << 40,
            16 << 20,
            "maximum size of an answer's body; a larger one is a failure",
        ),
        flag_on("keep_alive", "connections are reused; false: each request opens a new connection"),
        flag_on("cookies", "clients store and send cookies"),
        integer("keys", 1, i64::MAX, 10_000, "${key} is drawn from 1 to this"),
    ];
    options.extend(distribution_options());
    WorkloadDescription {
        name: HTTP,
        summary: "Requests to an HTTP/1.1 service, given in [[workload.request]] tables; for \
                  systems whose url begins with http:// or https://.",
        audit: "None: the service's data are in the database behind it.",
        options,
    }
}

/// The workload `http`.
pub struct Http {
    requests: Vec<Request>,
    /// Cumulative weights of the requests; `None` when all are sent in order.
    weights: Option<Vec<u64>>,
    keys: i64,
    distribution: Distribution,
    timeout: Duration,
    body_max: u64,
    keeps_cookies: bool,
}

/// A request, prepared once.
struct Request {
    /// Name with static lifetime, like all names of kinds.
    name: &'static str,
    /// The method and a blank.
    start: String,
    path: Template,
    /// The text between the path and the host's name; empty when the spec sets a Host header.
    host: &'static str,
    /// All header lines that are the same for every request.
    headers: Template,
    body: Option<Template>,
    is_head: bool,
    is_read: bool,
    status: Vec<u16>,
    body_holds: Option<String>,
}

/// State of one client.
pub struct HttpClient {
    client_number: u64,
    cookies: Cookies,
    request: Vec<u8>,
    /// Body of the request, and then that of the answer if it is checked.
    body: Vec<u8>,
}

impl Http {
    pub(super) fn build(plan: &WorkloadPlan) -> Result<Self, String> {
        let options = &plan.options;
        let keeps_alive = options.boolean("keep_alive");
        let requests = plan.requests.iter().map(|request| Request::new(request, keeps_alive));
        let requests = requests.collect::<Result<Vec<_>, _>>()?;
        if requests.is_empty() {
            return Err("workload `http` has no requests\nhint: add a [[workload.request]] table"
                .to_owned());
        }
        let weights = (options.text("order") == "weighted").then(|| {
            let mut sum = 0;
            let weights = plan.requests.iter().map(|request| {
                sum += u64::from(request.weight);
                sum
            });
            weights.collect()
        });
        Ok(Self {
            requests,
            weights,
            keys: options.integer("keys"),
            distribution: distribution(options),
            timeout: Duration::from_millis(options.count("timeout_ms")),
            body_max: options.count("body_max_bytes"),
            keeps_cookies: options.boolean("cookies"),
        })
    }

    /// Writes a request, sends it and checks its answer.
    async fn send(
        &self,
        index: usize,
        client: &mut HttpClient,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        if !service(session.connection())?.is_open() {
            session.renew().await?;
        }
        let request = &self.requests[index];
        let key = self.distribution.draw(random, 1, self.keys).unsigned_abs();
        request.write(service(session.connection())?, client, sequence, key);
        let HttpClient { cookies, request: bytes, body, .. } = client;
        let exchange = async |connection: &mut Connection| {
            body.clear();
            let exchange = Exchange {
                request: bytes,
                is_head: request.is_head,
                timeout: self.timeout,
                body_max: self.body_max,
                body: request.body_holds.is_some().then_some(&mut *body),
                cookies: self.keeps_cookies.then_some(cookies),
            };
            let status = service(connection)?.exchange(exchange).await?;
            request.check(status, body)
        };
        session.measure(index as u16, exchange).await.map(|_| ())
    }
}

impl Request {
    fn new(plan: &RequestPlan, keeps_alive: bool) -> Result<Self, String> {
        let name = &plan.name;
        let given =
            |header: &str| plan.headers.keys().any(|other| other.eq_ignore_ascii_case(header));
        let mut lines = String::new();
        if !given("user-agent") {
            lines.push_str("User-Agent: dyno\r\n");
        }
        for (header, value) in &plan.headers {
            lines.push_str(&format!("{header}: {value}\r\n"));
        }
        if !keeps_alive {
            lines.push_str("Connection: close\r\n");
        }
        if plan.body.is_none() && ["POST", "PUT", "PATCH"].contains(&plan.method.as_str()) {
            lines.push_str("Content-Length: 0\r\n");
        }
        let template = |text: &str| {
            Template::parse(text).map_err(|error| {
                format!("request `{name}`: {}\nhint: {}", error.message, error.help)
            })
        };
        let line = |text: &str| template(text)?.resolved(|variable| line_variable(name, variable));
        let body = plan
            .body
            .as_deref()
            .map(|text| template(text)?.resolved(|it| variable(name, it)))
            .transpose()?;
        Ok(Self {
            name: intern(name),
            start: format!("{} ", plan.method),
            path: line(&plan.path)?,
            host: if given("host") { "" } else { "Host: " },
            headers: line(&lines)?,
            body,
            is_head: plan.method == "HEAD",
            is_read: ["GET", "HEAD"].contains(&plan.method.as_str()),
            status: plan.status.clone(),
            body_holds: plan.body_holds.clone(),
        })
    }

    /// Writes the request in its final form.
    fn write(
        &self,
        connection: &http::Connection,
        client: &mut HttpClient,
        sequence: u64,
        key: u64,
    ) {
        let HttpClient { client_number, cookies, request: out, body } = client;
        let value = |parameter| match parameter {
            Parameter::Client => *client_number,
            Parameter::Sequence => sequence + 1,
            Parameter::Key => key,
        };
        out.clear();
        out.extend_from_slice(self.start.as_bytes());
        out.extend_from_slice(connection.base().as_bytes());
        self.path.write(value, out);
        out.extend_from_slice(b" HTTP/1.1\r\n");
        if !self.host.is_empty() {
            out.extend_from_slice(self.host.as_bytes());
            out.extend_from_slice(connection.host().as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        self.headers.write(value, out);
        cookies.write(out);
        if let Some(template) = &self.body {
            body.clear();
            template.write(value, body);
            let _ = write!(out, "Content-Length: {}\r\n\r\n", body.len());
            out.extend_from_slice(body);
        } else {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Checks the answer. Messages quote nothing from it, because it may repeat data of the
    /// request.
    fn check(&self, status: u16, body: &[u8]) -> Result<Outcome, OperationFailure> {
        let name = self.name;
        let refuse = |kind: FailureKind, what: String| {
            let message = format!("request `{name}`: {what}");
            Err(OperationFailure { code: u32::from(status), ..kind.failure(message) })
        };
        let is_wanted = match self.status.as_slice() {
            [] => (200..300).contains(&status),
            wanted => wanted.contains(&status),
        };
        if !is_wanted && REDIRECTS.contains(&status) {
            return refuse(
                FailureKind::Redirect,
                format!(
                    "the service redirected the client (status {status}), and dyno does not follow \
                     redirects"
                ),
            );
        }
        if !is_wanted {
            return refuse(
                FailureKind::UnexpectedStatus,
                format!("the service answered with the unexpected status {status}"),
            );
        }
        if let Some(wanted) = &self.body_holds
            && !std::str::from_utf8(body).is_ok_and(|body| body.contains(wanted))
        {
            return refuse(
                FailureKind::UnexpectedBody,
                format!("the answer does not contain `{wanted}`"),
            );
        }
        Ok(Outcome { has_rows: self.is_read, rows: 0, affected: u64::from(!self.is_read) })
    }
}

/// The connection as one to a service; all systems of this workload are services.
fn service(connection: &mut Connection) -> Result<&mut http::Connection, OperationFailure> {
    match connection {
        Connection::Http(service) => Ok(service),
        _ => Err(FailureKind::Unsupported
            .failure("workload `http` needs a system whose url begins with http://")),
    }
}

/// The value of an environment variable; it is never printed.
fn variable(request: &str, name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| match error {
        std::env::VarError::NotPresent => format!(
            "request `{request}` needs the environment variable {name}, which is not set\n\
             hint: run export {name}=... before starting dyno"
        ),
        std::env::VarError::NotUnicode(_) => {
            format!("request `{request}`: the environment variable {name} is not valid UTF-8")
        }
    })
}

/// The same for a header line, in which a line break would start another header.
fn line_variable(request: &str, name: &str) -> Result<String, String> {
    let value = variable(request, name)?;
    match value.bytes().any(|byte| byte.is_ascii_control()) {
        true => Err(format!(
            "request `{request}`: the environment variable {name} contains a control character, \
             such as a line break\n\
             hint: remove it"
        )),
        false => Ok(value),
    }
}

impl Workload for Http {
    type Client = HttpClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        self.requests.iter().map(|request| request.name).collect()
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &NoData
    }

    fn client(&self, id: ClientId) -> HttpClient {
        HttpClient {
            client_number: u64::from(id.0) + 1,
            cookies: Cookies::default(),
            request: Vec::new(),
            body: Vec::new(),
        }
    }

    fn transactions(&self) -> Vec<&'static str> {
        self.weights.as_ref().map_or_else(Vec::new, |_| self.kinds())
    }

    fn transaction_name(
        &self,
        _client: &mut HttpClient,
        _sequence: u64,
        random: &mut Random,
    ) -> u16 {
        match self.weights.as_deref() {
            None | Some([_]) => 0,
            Some(weights) => {
                let drawn = random.below(weights[weights.len() - 1]);
                weights.partition_point(|weight| *weight <= drawn) as u16
            }
        }
    }

    async fn transaction(
        &self,
        client: &mut HttpClient,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        if self.weights.is_none() {
            for index in 0..self.requests.len() {
                self.send(index, client, sequence, session, random).await?;
            }
            return Ok(());
        }
        let index = usize::from(self.transaction_name(client, sequence, random));
        self.send(index, client, sequence, session, random).await
    }

    async fn audit(
        &self,
        _connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        Ok(Vec::new())
    }
}

/// Checks that a workload and an engine are compatible: SQL requires a database, requests a
/// service.
///
/// # Errors
/// A description, when they are not.
pub fn check_engine(kind: &str, engine: Engine) -> Result<(), String> {
    match (kind == HTTP, engine.has_sql()) {
        (true, true) => Err(format!(
            "workload `{HTTP}` needs a service, but this system is {engine}\nhint: use a system \
             whose url begins with http://"
        )),
        (false, false) => Err(format!(
            "workload `{kind}` sends SQL, but this system uses {engine}\nhint: use \
             `kind = \"{HTTP}\"`, or the url of the database"
        )),
        _ => Ok(()),
    }
}
