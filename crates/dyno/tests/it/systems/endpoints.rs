//! Paths as a factor: TCP, the unix socket and a proxy, on one start of a server.

use crate::program::{Bench, events, flaws, records, signal, system_failure};
use crate::running::Running;
use dyno_host::HostError;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::{Plan, ProxyKind, ProxyPlan, ServerKind, Via};
use dyno_testkit::require_server;
use std::path::Path;
use std::process::Command;

fn spec(kind: ServerKind, clients: &str, stop: &str, factors: &str) -> String {
    format!(
        r#"
title = "Ways"
system = [{{ name = "S", server = {{ kind = "{kind}" }} }}]
workload = {{ kind = "rush", variant = "in-place" }}
load = {{ clients = {clients}, {stop}warmup = "0s" }}
factors = {{ {factors} }}
design = {{ blocks = 1, seed = 2 }}
[[endpoint]]
name = "proxied"
proxy = {{ kind = "haproxy", threads = 1 }}
"#
    )
}

/// What is started on the way through HAProxy, with its version.
fn located() -> Result<Option<(&'static str, String)>, HostError> {
    dyno_host::network_path::locate(&Via::Proxy(ProxyPlan {
        kind: ProxyKind::Haproxy,
        threads: None,
    }))
}

/// True when the proxy is installed; where servers are required, it is too.
fn has_proxy() -> bool {
    let found = located();
    let is_required =
        std::env::var_os(dyno_testkit::REQUIRE_SERVERS).is_some_and(|value| value == "1");
    assert!(found.is_ok() || !is_required, "haproxy is missing; scripts/servers installs it");
    found.is_ok()
}

fn nothing_is_left(bench: &Bench) {
    let marker = bench.path().to_str().expect("a path of text");
    assert!(dyno_testkit::processes_with(marker).is_empty());
    assert_eq!(bench.names(), ["r", "ways.toml"]);
}

#[test]
fn one_start_is_measured_over_tcp_over_its_socket_and_through_a_proxy() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        if require_server(kind).is_none() || !has_proxy() {
            continue;
        }
        let bench = Bench::new();
        let factors = r#"endpoint = ["tcp", "socket", "proxied"]"#;
        bench.file("ways.toml", spec(kind, "[2, 40]", "transactions = 100, ", factors));
        let ended = bench.dyno(&["run", "ways.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        let folder = bench.path().join("r");
        let starts =
            events(&folder).into_iter().filter(|event| matches!(event, Event::SystemReady { .. }));
        assert_eq!(starts.count(), 1, "{kind}: a way needs no other start");
        let records = records(&folder);
        assert_eq!(records.len(), 6, "{kind}: {ended}");
        assert!(
            records
                .iter()
                .all(|record| record.counters.committed > 0 && record.counters.failed == 0),
            "{kind}"
        );
        let environment = std::fs::read(folder.join("environment.json")).expect("the environment");
        let environment: serde_json::Value = serde_json::from_slice(&environment).expect("JSON");
        let (_, version) = located().expect("it ran").expect("it is started");
        assert!(
            !version.is_empty() && environment["proxies"]["haproxy"] == *version,
            "{environment}"
        );
        assert!(environment["kernel_settings"]["net.core.somaxconn"].is_string(), "{environment}");
        let page =
            std::fs::read_to_string(folder.join("report.html")).expect("a run leaves its report");
        assert!(
            page.contains(&format!("haproxy {version}")) && page.contains("net.core.somaxconn")
        );
        nothing_is_left(&bench);
    }
}

#[test]
fn a_proxy_that_dies_marks_its_trial_and_the_next_ones_are_measured() {
    if require_server(ServerKind::Mariadb).is_none() || !has_proxy() {
        return;
    }
    let bench = Bench::new();
    // The first trial, which is long, ends with its proxy.
    let factors = r#"endpoint = ["proxied"], "load.duration" = ["5m", "4s"]"#;
    bench.file("ways.toml", spec(ServerKind::Mariadb, "[40]", "", factors));
    let run = Running::start(&bench, "ways.toml");
    let folder = bench.path().join("r");
    run.await_phase(Phase::Measure);
    let marker = format!("haproxy -db -f {}", bench.path().display());
    let proxies = Command::new("pgrep").args(["-f", &marker]).output().expect("pgrep is there");
    let proxies = String::from_utf8(proxies.stdout).expect("numbers");
    let proxy = proxies.split_whitespace().next().expect("the proxy of this test runs");
    signal("-9", proxy.parse().expect("a number"));
    let ended = run.ended();
    let plan: Plan =
        serde_json::from_slice(&std::fs::read(folder.join("plan.json")).unwrap()).expect("a plan");
    let records = records(&folder);
    assert_eq!(records.len(), plan.trials.len(), "{ended}");
    let [first, second] = &records[..] else { panic!("two trials") };
    let died = system_failure(first);
    assert!(died.contains("the proxy proxied was killed"), "{:?}", first.warnings);
    assert!(flaws(second).is_empty() && second.counters.committed > 0, "{:?}", second.warnings);
    nothing_is_left(&bench);
}

#[test]
fn symlinks_in_place_of_proxy_files_are_not_followed_as_root() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let is_root = std::fs::metadata("/proc/self").expect("proc is there").uid() == 0;
    if !is_root || require_server(ServerKind::Mariadb).is_none() {
        eprintln!("SKIPPED: only root starts a proxy as another user, and MariaDB is needed");
        return;
    }
    let bench = Bench::new();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(bench.path(), 0o755);
    let secret = bench.file("secret", "for root only\n");
    mode(&secret, 0o600);
    // A proxy that does what its user can do, and says that it should be started again.
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = -v ] && echo 'HAProxy version 9.9' && exit\n\
         for at in proxy.cfg proxy.log; do rm -f $at; ln -s {} $at; done 2>/dev/null\necho 'cannot bind socket'; exit 1\n",
        secret.display()
    );
    std::fs::create_dir(bench.path().join("bin")).expect("it is new");
    mode(&bench.file("bin/haproxy", text), 0o755);
    let factors = r#"endpoint = ["proxied"]"#;
    bench.file("ways.toml", spec(ServerKind::Mariadb, "[1]", "transactions = 1, ", factors));
    let path = format!(
        "{}:{}",
        bench.path().join("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = bench.command(&["run", "ways.toml", "--out", "r"]).env("PATH", path).output();
    let said = String::from_utf8_lossy(&output.expect("dyno can be started").stderr).into_owned();
    assert_eq!(std::fs::read_to_string(&secret).expect("it is there"), "for root only\n", "{said}");
    let found = std::fs::metadata(&secret).expect("it is there");
    assert_eq!((found.uid(), found.mode() & 0o777), (0, 0o600), "it was given away: {said}");
    assert!(
        !dyno_testkit::folder_holds(&bench.path().join("r"), "root only"),
        "it is in the results"
    );
    assert!(
        dyno_testkit::folder_holds(&bench.path().join("r"), "cannot bind socket"),
        "its log is kept: {said}"
    );
}
