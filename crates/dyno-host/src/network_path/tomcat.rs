//! Tomcat with a web application that uses the database: its own folders and configuration, one
//! connector.

use super::run_directory::{NotReady, RunDirectory, RunningPath, unwritten};
use crate::ask::ask;
use crate::error::HostError;
use crate::folder::write_private;
use crate::server::StartOptions;
use crate::server::process::make_folder;
use crate::supervisor::Launch;
use dyno_drivers::http::Exchange;
use dyno_drivers::{Connection, Driver, Io, block_on};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::ApplicationPlan;
use dyno_model::target::{Endpoint, Engine, Target};
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Timeout until the application is ready.
const READY_LIMIT: Duration = Duration::from_secs(120);
/// Timeout of a single answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// Maximum size of the answer of a readiness check.
const ANSWER_MAX: u64 = 64 * 1024;
/// Users to run as when dyno is root.
const USERS: [&str; 2] = ["tomcat", "nobody"];
/// Environment variable with the folder of the user's own Tomcat.
const HOME_VARIABLE: &str = "CATALINA_HOME";
/// Locations in Debian's packages, newest first.
const HOMES: [&str; 3] = ["/usr/share/tomcat11", "/usr/share/tomcat10", "/opt/tomcat"];

/// What is needed to start it.
pub(super) struct Found {
    java: PathBuf,
    home: PathBuf,
    /// Version of Tomcat.
    pub(super) version: String,
}

/// Finds Java, Tomcat and the application.
pub(super) fn locate(plan: &ApplicationPlan) -> Result<Found, HostError> {
    let war = &plan.war;
    if !war.is_file() {
        return Err(HostError::new(format!(
            "the web application {0} does not exist\nhint: `mvn package` in examples/webapp builds \
             that of the examples",
            war.display()
        )));
    }
    let named = std::env::var_os(HOME_VARIABLE).map(PathBuf::from);
    let homes: Vec<PathBuf> =
        named.map_or_else(|| HOMES.map(PathBuf::from).to_vec(), |home| vec![home]);
    let home = homes.iter().find(|home| home.join("bin/bootstrap.jar").is_file());
    let home = home.cloned().ok_or_else(|| {
        let looked_at: String =
            homes.iter().map(|home| format!("\n  {}", home.display())).collect();
        HostError::new(format!(
            "no Tomcat found; searched for bin/bootstrap.jar in{looked_at}\n\
             hint: install it (on Debian: apt-get install tomcat10-common), or name its folder in \
             the environment variable {HOME_VARIABLE}"
        ))
    })?;
    let java = java().ok_or_else(|| {
        HostError::new(
            "Tomcat needs Java, and neither JAVA_HOME nor PATH has the program java\n\
             hint: install it; on Debian: apt-get install default-jre-headless",
        )
    })?;
    let version = version(&java, &home);
    Ok(Found { java, home, version })
}

fn java() -> Option<PathBuf> {
    let own = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("java"))
        .find(|java| java.is_file())
}

/// The version that Tomcat reports; empty when it reports none.
fn version(java: &Path, home: &Path) -> String {
    let mut command = Command::new(java);
    command
        .arg("-cp")
        .arg(home.join("lib/catalina.jar"))
        .arg("org.apache.catalina.util.ServerInfo")
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let output = ask(&mut command).map(|answer| answer.text).unwrap_or_default();
    let number = output.lines().find_map(|line| line.strip_prefix("Server number:"));
    number.unwrap_or_default().trim().to_owned()
}

/// Starts it in front of these servers, among which the application distributes its connections.
pub(super) fn start(
    plan: &ApplicationPlan,
    servers: &[Target],
    options: &StartOptions,
) -> Result<RunningPath, HostError> {
    let Found { java, home, .. } = locate(plan)?;
    let mut run_directory =
        RunDirectory::make(plan.kind.name(), "application server", &USERS, options)?;
    let owner = run_directory.owner;
    let beside = std::env::temp_dir();
    let inside = ["conf", "lib", "logs", "temp", "webapps", "work"];
    let base = make_folder(
        &mut run_directory.supervisor,
        &beside,
        &format!("dyno-{}", plan.kind.name()),
        owner,
        &inside,
    )?;
    let own = run_directory.folder.clone();
    let war = own.join("application.war");
    copy(&plan.war, &war).map_err(unwritten(&war))?;
    let url = url(servers)?;
    let classes = ["bin/bootstrap.jar", "bin/tomcat-juli.jar"]
        .map(|jar| home.join(jar).display().to_string());
    let launch = |port: u16| {
        let text = configuration(plan, port, &war, &url, &servers[0]);
        let config = write_private(&own, "server.xml", &text, owner).map_err(unwritten(&own))?;
        let arguments = [
            "-cp".to_owned(),
            classes.join(":"),
            format!("-Dcatalina.home={}", home.display()),
            format!("-Dcatalina.base={}", base.display()),
            format!("-Djava.io.tmpdir={}", base.join("temp").display()),
            "-Djava.awt.headless=true".to_owned(),
            // Otherwise it would continue without its port.
            "-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true".to_owned(),
            "org.apache.catalina.startup.Bootstrap".to_owned(),
            "-config".to_owned(),
            config.display().to_string(),
            "start".to_owned(),
        ];
        Ok(Launch {
            program: java.clone(),
            arguments: arguments.into(),
            folder: base.clone(),
            ..Launch::default()
        })
    };
    run_directory.start(&launch, &target, &|target| check_ready(target, ANSWER_LIMIT), READY_LIMIT)
}

/// Maximum size of an application in bytes.
const WAR_MAX: u64 = 4 << 30;

/// A copy that is readable for everybody who may enter the folder.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut dyno_files::open(from, WAR_MAX)?, &mut File::create_new(to)?)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o644))
}

fn target(port: u16) -> Target {
    Target::new(Engine::Http, Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port })
}

/// The servers as a URL for the application's driver (MariaDB's), which connects to them in turn.
fn url(servers: &[Target]) -> Result<String, HostError> {
    let unfit = || HostError::new("the application supports only MariaDB and MySQL over TCP");
    let scheme = servers[0].engine.traits().jdbc.ok_or_else(unfit)?;
    let addresses = servers.iter().map(|server| match server.opened_at() {
        Endpoint::Tcp { host, port } => Ok(format!("{host}:{port}")),
        _ => Err(unfit()),
    });
    let addresses = addresses.collect::<Result<Vec<_>, _>>()?.join(",");
    let mode = if servers.len() > 1 { "loadbalance:" } else { "" };
    let database = &servers[0].database;
    Ok(format!("jdbc:{scheme}:{mode}//{addresses}/{database}?allowPublicKeyRetrieval=true"))
}

/// One service, one connector, one application at the root. Only the user that Tomcat runs as can
/// read the file, because it contains the password.
fn configuration(
    plan: &ApplicationPlan,
    port: u16,
    war: &Path,
    url: &str,
    server: &Target,
) -> String {
    let parameter = |name: &str, value: &str| {
        format!(
            "          <Parameter name=\"{name}\" value=\"{}\" override=\"false\"/>\n",
            escaped(value)
        )
    };
    let parameters = [
        parameter("url", url),
        parameter("user", &server.user),
        parameter("password", server.password.reveal()),
        parameter("connections", &plan.connections.to_string()),
    ]
    .concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Server port=\"-1\">\n  <Service \
         name=\"dyno\">\n    <Connector address=\"127.0.0.1\" port=\"{port}\" \
         protocol=\"HTTP/1.1\" maxThreads=\"{threads}\" maxKeepAliveRequests=\"-1\" \
         keepAliveTimeout=\"-1\" maxConnections=\"-1\" acceptCount=\"10000\"/>\n    <Engine \
         name=\"dyno\" defaultHost=\"localhost\">\n      <Host name=\"localhost\" \
         appBase=\"webapps\" autoDeploy=\"false\" deployOnStartup=\"false\">\n        <Context \
         path=\"\" docBase=\"{war}\">\n{parameters}        </Context>\n      </Host>\n    </Engine>\n  </Service>\n</Server>\n",
        threads = plan.threads,
        war = escaped(&war.display().to_string()),
    )
}

/// Text escaped for an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Whether the application reaches its database. Tomcat accepts requests only after all
/// applications have started, so any other answer than the expected one is final.
fn check_ready(target: &Target, limit: Duration) -> Result<(), NotReady> {
    let failed =
        |failure: OperationFailure| NotReady { text: failure.to_string(), is_final: false };
    let mut connection = block_on(Connection::connect(target, &Io::Blocking)).map_err(failed)?;
    let Connection::Http(service) = &mut connection else {
        unreachable!("the target is a service")
    };
    let request =
        format!("GET /ready HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", service.host());
    let mut body = Vec::new();
    let exchange = Exchange {
        request: request.as_bytes(),
        is_head: false,
        timeout: limit,
        body_max: ANSWER_MAX,
        body: Some(&mut body),
        cookies: None,
    };
    let status = block_on(service.exchange(exchange)).map_err(|failure| match failure.kind {
        FailureKind::Timeout => {
            let text =
                format!("its application does not answer /ready within {} s", limit.as_secs_f64());
            NotReady { text, is_final: true }
        }
        _ => failed(failure),
    })?;
    if status == 200 {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&body);
    let words = words.lines().find(|line| status == 500 && !line.trim_start().starts_with('<'));
    let words = words.map_or(String::new(), |words| format!(": {words}"));
    let text = format!("its application answers /ready with status {status}{words}");
    Err(NotReady { text, is_final: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_application_that_does_not_answer_is_queried_once() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = target(listener.local_addr().unwrap().port());
        let NotReady { text, is_final } =
            check_ready(&target, Duration::from_millis(20)).err().unwrap();
        assert!(
            is_final && text == "its application does not answer /ready within 0.02 s",
            "{text}"
        );
    }
}
