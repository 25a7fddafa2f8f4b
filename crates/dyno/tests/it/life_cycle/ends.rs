//! Everything ends: servers that fall silent mark their trial and the campaign goes on, and the
//! first Ctrl-C is heard whatever dyno is waiting for. Limits that must not be waited for are so
//! long that a test which did would fail by its own limit.

use crate::audits::Work;
use crate::program::{Bench, records, signal};
use crate::running::Running;
use dyno_drivers::null::server::{Options, Protocol, RunningServer, serve};
use dyno_engine::{LoadInput, TrialError};
use dyno_model::event::Phase;
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, ServerKind, StopRule};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{BlackholeProxy, processes_with, require_server, wait_until};
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// Exit codes as documented.
pub(crate) const PREFLIGHT_FAILED: i32 = 4;
pub(crate) const SERVER_FAILED: i32 = 5;
pub(crate) const RUN_INCOMPLETE: i32 = 6;
pub(crate) const INTERRUPTED: i32 = 130;

/// A server that logs in and answers nothing after that.
pub(crate) fn mute(protocol: Protocol) -> RunningServer {
    let options = Options { hang_after: Some(0), ..Options::default() };
    serve(protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port")
}

/// A spec for it, in which connecting may take this long.
fn spec_of_mute(bench: &Bench, scheme: &str, server: &RunningServer, connect_timeout: &str) {
    let port = server.local_addr.port();
    bench.file(
        "mute.toml",
        format!(
            "title = \"Mute\"\n[[system]]\nname = \"Mute\"\nurl = \"{scheme}://bench@127.0.0.1:{port}/shop\"\n\
             connect_timeout = \"{connect_timeout}\"\n[workload]\nkind = \"rush\"\n[load]\nclients = 1\n\
             transactions = 1\n[design]\nblocks = 1\n"
        ),
    );
}

const MUTE: [(Protocol, &str); 2] = [(Protocol::Mysql, "mysql"), (Protocol::Postgres, "postgres")];

pub(crate) fn nothing_is_left(bench: &Bench, names: &[&str]) {
    let folder = bench.path().display().to_string();
    wait_until("all processes have ended", || processes_with(&folder).is_empty());
    assert_eq!(bench.names(), names);
}

#[test]
fn a_silent_server_fails_plan_and_run_with_its_name_and_timeout() {
    for (protocol, scheme) in MUTE {
        let (bench, server) = (Bench::new(), mute(protocol));
        spec_of_mute(&bench, scheme, &server, "1s");
        for command in [&["plan", "mute.toml"][..], &["run", "mute.toml", "--out", "r"]] {
            let ended = Running::of(&bench, bench.command(command)).ended();
            assert_eq!(ended.code, PREFLIGHT_FAILED, "{scheme}: {ended}");
            let text = format!("{}{}", ended.stdout, ended.stderr);
            let place = format!("{scheme}://bench@127.0.0.1:{}/shop", server.local_addr.port());
            assert!(text.contains("Mute: ") && text.contains(&place), "{scheme}: {ended}");
            assert!(text.contains("the server did not answer within 3s"), "{scheme}: {ended}");
        }
        let ended = Running::of(&bench, bench.command(&["cleanup", "mute.toml"])).ended();
        assert_eq!(ended.code, SERVER_FAILED, "{scheme}: {ended}");
        assert!(ended.stderr.contains("Mute: "), "{scheme}: {ended}");
        assert!(ended.stderr.contains("the server has been silent for 3s"), "{scheme}: {ended}");
        assert_eq!(bench.names(), ["mute.toml"]);
        server.stop().expect("it ends");
    }
}

/// It answers everything until the clients of a trial prepare their statement.
#[test]
fn a_server_silent_while_preparing_statements_fails_the_ramp_up() {
    let load = LoadPlan::new(StopRule::TransactionsPerClient(1));
    let nobody = AtomicUsize::new(0);
    for (protocol, engine) in
        [(Protocol::Mysql, Engine::Mysql), (Protocol::Postgres, Engine::Postgres)]
    {
        let server =
            serve(protocol, ([127, 0, 0, 1], 0).into(), Options::default()).expect("a free port");
        let silencer = BlackholeProxy::new("127.0.0.1", server.local_addr.port());
        silencer.listen_for("SELECT c FROM sbtest1");
        let address = silencer.address();
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let target = Target {
            user: "bench".to_owned(),
            connect_timeout: Duration::from_millis(300),
            ..Target::new(engine, endpoint)
        };
        let input = LoadInput::new("silent", 2, &load, 1, &nobody);
        let native = Work::new("oltp_point_select", &[], 2, load.stop).native(engine);
        let outcome = native.run_load(&[target], &input, &mut ());
        let Err(TrialError::NotConnected(failure)) = outcome else {
            panic!("{engine}: {outcome:?}")
        };
        assert!(silencer.is_silent(), "{engine}: {failure}");
        assert_eq!(failure.kind, FailureKind::Timeout, "{engine}: {failure}");
    }
}

#[test]
fn ctrl_c_ends_preflight_that_waits_for_an_answer() {
    for (protocol, scheme) in MUTE {
        let (bench, server) = (Bench::new(), mute(protocol));
        spec_of_mute(&bench, scheme, &server, "1h");
        let running = Running::start(&bench, "mute.toml");
        wait_until("it has connected", || server.counters().connections() > 0);
        running.interrupt();
        let ended = running.ended();
        assert_eq!(ended.code, INTERRUPTED, "{scheme}: {ended}");
        assert_eq!(bench.names(), ["mute.toml"]);
        server.stop().expect("it ends");
    }
}

/// A campaign of two systems, of which the first is a server; connections to it may take this long.
fn campaign(kind: ServerKind, connect_timeout: &str, rows: u32) -> String {
    format!(
        "title = \"Halted\"\n\
         system = [{{ name = \"Server\", connect_timeout = \"{connect_timeout}\", server = {{ kind = \"{kind}\" }} }}, \
         {{ name = \"SQLite\", server = {{ kind = \"sqlite\" }} }}]\n\
         workload = {{ kind = \"oltp_read_write\", tables = 1, table_size = {rows} }}\n\
         load = {{ clients = 2, warmup = \"2s\", duration = \"3s\" }}\n\
         design = {{ blocks = 1, seed = {SERVER_FIRST} }}\n"
    )
}

/// A seed with which the server's trial is the first.
const SERVER_FIRST: u32 = 2;

#[test]
fn a_halted_server_flags_its_trial_and_the_run_continues() {
    for kind in [ServerKind::Mariadb, ServerKind::Postgres] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        // Made in the test's folder, which the server's user has to enter.
        std::fs::set_permissions(bench.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("it is ours");
        bench.file("halted.toml", campaign(kind, "2s", 1_000));
        let running = Running::start(&bench, "halted.toml");
        running.await_phase(Phase::Measure);
        running.halt(kind);
        let ended = running.ended();
        assert_eq!(ended.code, RUN_INCOMPLETE, "{kind}: {ended}");
        let text =
            std::fs::read_to_string(bench.path().join("r/events.jsonl")).expect("it is there");
        let records = records(&bench.path().join("r"));
        let [halted, next] = &records[..] else { panic!("{kind}: two trials, found {text}") };
        let said = "the server has been silent for 6s, and another connection failed: timeout";
        assert!(text.contains(said), "{kind}: {text}");
        assert!(!crate::program::flaws(halted).is_empty(), "{kind}: {halted:?}");
        assert!(next.counters.committed > 0, "{kind}: {next:?}");
        nothing_is_left(&bench, &["halted.toml", "r"]);
    }
}

#[test]
fn ctrl_c_ends_each_phase_of_a_trial_whose_server_is_halted() {
    let phases = [Phase::Schema, Phase::Load, Phase::Connecting, Phase::Measure, Phase::Audit];
    for kind in [ServerKind::Mariadb, ServerKind::Postgres] {
        if require_server(kind).is_none() {
            continue;
        }
        for phase in phases {
            let bench = Bench::new();
            std::fs::set_permissions(
                bench.path(),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .expect("it is ours");
            // Loading, which comes behind the schema, and the audit take as long as there are rows.
            let is_long = matches!(phase, Phase::Schema | Phase::Load | Phase::Audit);
            let rows = if is_long { 200_000 } else { 1_000 };
            bench.file("halted.toml", campaign(kind, "1h", rows));
            let running = Running::start(&bench, "halted.toml");
            running.await_phase(phase);
            running.halt(kind);
            running.interrupt();
            let ended = running.ended();
            assert_eq!(ended.code, INTERRUPTED, "{kind} in {phase:?}: {ended}");
            nothing_is_left(&bench, &["halted.toml", "r"]);
        }
    }
}

#[test]
fn ctrl_c_ends_a_storage_command() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    for (before, after) in
        [("touch begun; sleep 10000", "true"), ("true", "touch begun; sleep 10000")]
    {
        let bench = Bench::new();
        std::fs::set_permissions(bench.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("it is ours");
        std::fs::create_dir(bench.path().join("data")).expect("it is new");
        bench.file(
            "storage.toml",
            format!(
                "title = \"Storage\"\nsystem = [{{ name = \"S\", server = {{ kind = \"mariadb\" }} }}]\n\
                 workload = {{ kind = \"rush\" }}\nload = {{ clients = 1, transactions = 5 }}\n\
                 factors = {{ storage = [\"one\"] }}\ndesign = {{ blocks = 1 }}\n\
                 [[storage]]\nname = \"one\"\ndata = \"data\"\nbefore = \"{before}\"\nafter = \"{after}\"\n\
                 time_limit = \"1h\"\n"
            ),
        );
        let running = Running::start(&bench, "storage.toml");
        wait_until("the command runs", || bench.path().join("begun").exists());
        running.interrupt();
        let ended = running.ended();
        assert_eq!(ended.code, INTERRUPTED, "{before}, {after}: {ended}");
        if before == "true" {
            assert!(ended.stdout.contains("it continues alone"), "{ended}");
        }
        for process in processes_with(&bench.path().display().to_string()) {
            // The supervisor goes on with what is promised; this test does not wait for it.
            signal("-KILL", process);
        }
    }
}
