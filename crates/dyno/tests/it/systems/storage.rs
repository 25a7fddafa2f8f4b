//! Storage as a factor: data and log where the levels say, commands before and after, and nothing
//! left behind.

use crate::program::{Bench, events, failures};
use crate::running::Running;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_testkit::{require_server, wait_until};

/// Two storages in the bench's folder; `one` is made by its command and also takes the log, `two`
/// is there already. The commands write down what they were told.
fn spec(kind: &str, load: &str) -> String {
    format!(
        r#"
title = "Storage"
system = [{{ name = "S", server = {{ kind = "{kind}" }} }}]
workload = {{ kind = "oltp_read_only", tables = 1, table_size = 1000 }}
{load}
[factors]
storage = ["one", "two"]

[[storage]]
name = "one"
data = "one"
log = "one-log"
before = """
echo preparing
mkdir "$DYNO_DATA" "$DYNO_LOG_FOLDER" && echo "$DYNO_STORAGE $DYNO_DATA $DYNO_LOG_FOLDER" >> before.txt"""
after = 'ls "$DYNO_DATA" "$DYNO_LOG_FOLDER" > after.txt; rmdir "$DYNO_DATA" "$DYNO_LOG_FOLDER"'

[[storage]]
name = "two"
data = "two"

[design]
blocks = 1
data = "restore"
"#
    )
}

const SHORT: &str = "load = { clients = 1, transactions = 50 }";

fn bench(text: &str) -> Bench {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o755))
        .expect("it is ours");
    std::fs::create_dir(bench.path().join("two")).expect("it is new");
    bench.file("storage.toml", text);
    bench
}

#[test]
fn storage_levels_place_data_and_log_and_run_their_commands() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = bench(&spec(kind.name(), SHORT));
        let ended = bench.dyno(&["run", "storage.toml", "--out", "r"]);
        assert!(ended.is_done(), "{kind}: {ended}");
        let finished = events(&bench.path().join("r")).into_iter().filter(
            |event| matches!(event, Event::TrialFinished(record) if record.counters.committed > 0),
        );
        assert_eq!(finished.count(), 2, "{kind}: {ended}");
        let read =
            |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap_or_default();
        assert_eq!(read("before.txt"), "one one one-log\n", "{kind}");
        // The server's folders were gone when the command looked.
        assert_eq!(read("after.txt"), "one:\n\none-log:\n", "{kind}");
        assert_eq!(read("r/server-logs/storage-one-before.log"), "preparing\n");
        assert_eq!(
            bench.names(),
            ["after.txt", "before.txt", "r", "storage.toml", "two"],
            "{kind}"
        );
        assert_eq!(std::fs::read_dir(bench.path().join("two")).unwrap().count(), 0, "{kind}");
    }
}

#[test]
fn a_failing_storage_command_fails_only_its_own_storage() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let text = spec("mariadb", SHORT).replace("echo preparing", "echo no such array >&2; exit 7");
    let bench = bench(&text);
    let ended = bench.dyno(&["run", "storage.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    let reasons = failures(&bench.path().join("r"));
    let [reason] = &reasons[..] else { panic!("one of two fails: {reasons:?}") };
    assert!(
        reason.contains("storage \"one\"")
            && reason.contains("exit code 7")
            && reason.contains("no such array"),
        "{reason}"
    );
    assert!(bench.path().join("after.txt").exists(), "what follows runs also after a failure");
    assert_eq!(bench.names(), ["after.txt", "r", "storage.toml", "two"]);
}

#[test]
fn storage_commands_time_out_and_missing_folders_are_reported() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let text = spec("mariadb", SHORT)
        .replace("echo preparing", "echo waiting; sleep 600")
        .replace("name = \"one\"", "name = \"one\"\ntime_limit = \"4s\"");
    let bench = bench(&text);
    let ended = bench.dyno(&["run", "storage.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    assert!(ended.stderr.contains("did not end within 4 s"), "{ended}");
    assert_eq!(bench.names(), ["after.txt", "r", "storage.toml", "two"]);
    let marker = bench.path().to_str().expect("a path of text");
    assert!(dyno_testkit::processes_with(marker).is_empty());

    std::fs::remove_dir(bench.path().join("two")).expect("it is empty");
    let ended = bench.dyno(&["run", "storage.toml", "--out", "other"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("storage two: the folder two does not exist"), "{ended}");
    assert!(!bench.path().join("other").exists());
}

#[test]
fn kill_9_leaves_neither_server_nor_folder_and_the_command_after_runs() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let text = spec("mariadb", "load = { clients = 1, duration = \"60s\", warmup = \"0s\" }")
        .replace("storage = [\"one\", \"two\"]", "storage = [\"one\"]");
    let bench = bench(&text);
    let run = Running::start(&bench, "storage.toml");
    run.await_phase(Phase::Measure);
    run.kill();
    let left = ["after.txt", "before.txt", "r", "storage.toml", "two"];
    wait_until("folders and saved data vanish", || bench.names() == left);
    let marker = bench.path().to_str().expect("a path of text");
    wait_until("no process is left", || dyno_testkit::processes_with(marker).is_empty());
}
