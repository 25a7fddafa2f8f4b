//! Host names: failover by DNS moves a name to another server.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that calls it")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

use dyno_drivers::null::StatementKind;
use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_model::engine::Engine;
use dyno_model::target::{Endpoint, Target};
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

/// The file that takes the place of /etc/hosts, in the process that has a mount namespace.
const HOSTS: &str = "DYNO_TEST_HOSTS";
const NAME: &str = "database.dyno.test";

#[test]
fn a_host_name_is_resolved_anew_for_every_connection() {
    let Some(hosts) = std::env::var_os(HOSTS) else { return in_a_namespace() };
    let mut port = 0;
    let servers = ["127.0.0.1", "127.0.0.2"].map(|host| {
        let address = SocketAddr::new(host.parse().unwrap(), port);
        let server = serve(Protocol::Mysql, address, Options::default()).unwrap();
        port = server.local_addr.port();
        server
    });
    let endpoint = Endpoint::Tcp { host: NAME.to_owned(), port };
    let target = Target { user: "any".to_owned(), ..Target::new(Engine::Mysql, endpoint) };
    for server in servers {
        fs::write(&hosts, format!("{} {NAME}\n", server.local_addr.ip())).unwrap();
        let mut connection = block_on(Connection::connect(&target, &Io::Blocking)).unwrap();
        block_on(connection.query("COMMIT", &mut Discard)).unwrap();
        assert_eq!(server.counters().statements(StatementKind::Commit), 1, "{}", server.local_addr);
    }
}

/// Runs the test again where the file is mounted over /etc/hosts.
fn in_a_namespace() {
    let hosts = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg("mount --bind \"$DYNO_TEST_HOSTS\" /etc/hosts || exit 77; exec \"$@\"").arg("sh");
    command.arg(std::env::current_exe().unwrap()).args(["--exact", "--nocapture"]);
    command.arg("names::a_host_name_is_resolved_anew_for_every_connection");
    let ended = command.env(HOSTS, hosts.path()).output().unwrap();
    let reported = String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() == Some(77) || reported.starts_with("unshare:") {
        eprintln!("skipped: this account cannot mount a file over /etc/hosts: {reported}");
        return;
    }
    assert!(ended.status.success(), "{}{reported}", String::from_utf8_lossy(&ended.stdout));
}
