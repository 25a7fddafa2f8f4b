//! Trials whose clients are divided among several processes.

use super::services::generators;
use crate::ends::RUN_INCOMPLETE;
use crate::program::{Bench, Ended, failures, flaws, records, signal};
use crate::running::Running;
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::event::Phase;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::warning::Warning;
use dyno_testkit::{is_process, processes_with, require_server, wait_until};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn spec(system: &str, workload: &str, load: &str, more: &str) -> String {
    format!(
        "title = \"Divided\"\nsystem = [{{ name = \"S\", {system} }}]\nworkload = {workload}\n\
         load = {load}\ndesign = {{ blocks = 1 }}\n{more}"
    )
}

const SQLITE: &str = "server = { kind = \"sqlite\" }";
const RUSH: &str = "{ kind = \"rush\", variant = \"in-place\" }";

/// The query's only answer.
fn asked(bench: &Bench, file: &str, sql: &str) -> String {
    let target = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join(file)));
    block_on(async {
        let mut connection = Connection::connect(&target, &Io::Blocking).await.expect("it opens");
        let mut table = Table::default();
        connection.query(sql, &mut table).await.expect("it answers");
        table.first().unwrap_or_default().to_owned()
    })
}

fn sent(bench: &Bench, file: &str, sql: &str) {
    let target = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join(file)));
    block_on(async {
        let mut connection = Connection::connect(&target, &Io::Blocking).await.expect("it opens");
        connection.query(sql, &mut Table::default()).await.expect("it is done");
    });
}

fn only(bench: &Bench, results: &str, ended: &Ended) -> TrialRecord {
    let mut records = records(&bench.path().join(results));
    assert!(ended.is_done() && records.len() == 1, "{ended}");
    records.remove(0)
}

#[test]
fn one_two_and_four_generators_draw_the_keys_of_this_process() {
    let bench = Bench::new();
    bench.file(
        "draw.sql",
        "\\set k random(1, 1000000000)\nINSERT INTO drawn VALUES (:client_id, :k);\n",
    );
    let mut all = Vec::new();
    for generators in [None, Some(1), Some(2), Some(4)] {
        let file = format!("keys{}.db", generators.unwrap_or(0));
        sent(&bench, &file, "CREATE TABLE drawn (client INTEGER, k INTEGER)");
        let text = spec(
            &format!("url = \"sqlite:{file}\", data = \"existing\""),
            "{ kind = \"sql\", scripts = [\"draw.sql\"] }",
            "{ clients = 5, transactions_per_client = 20, attempts_max = 1000 }",
            "",
        );
        bench.file("draw.toml", text);
        let results = format!("r{}", generators.unwrap_or(0));
        let number = generators.map(|number: u32| number.to_string());
        let mut line = vec!["run", "draw.toml", "--out", &results, "--yes-write-to", &file];
        line.extend(number.iter().flat_map(|number| ["--generators", number]));
        let ended = bench.dyno(&line);
        let record = only(&bench, &results, &ended);
        assert_eq!(record.counters.committed, 100, "{ended}");
        let parts = record.generators.as_ref().map_or(0, |it| it.summaries.len());
        assert_eq!(parts, generators.unwrap_or(0) as usize);
        all.push(asked(
            &bench,
            &file,
            "SELECT group_concat(line, ';') FROM (SELECT client || ':' || k AS line FROM drawn ORDER BY client, k)",
        ));
    }
    assert_eq!(all[0].split(';').count(), 100);
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn the_audit_of_a_server_counts_the_commits_of_all_generators() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let system = "server = { kind = \"mariadb\" }";
    for (number, workload, load) in [
        (
            2,
            "{ kind = \"rush\", variant = \"for-update\", ledger = true }",
            "{ clients = 8, duration = \"1s\", warmup = \"0s\", generators = 2 }",
        ),
        (
            4,
            "{ kind = \"oltp_delete\", tables = 2, table_size = 5000 }",
            "{ clients = 8, transactions = 2001, generators = 4 }",
        ),
        (
            3,
            "{ kind = \"bulk_insert\", rows_per_insert = 50 }",
            "{ clients = 4, duration = \"500ms\", rate = \"200/s\", generators = 3 }",
        ),
    ] {
        bench.file("audit.toml", spec(system, workload, load, ""));
        let results = format!("r{number}");
        let ended = bench.dyno(&["run", "audit.toml", "--out", &results]);
        let record = only(&bench, &results, &ended);
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{ended}");
        // A busy machine may not keep the rate.
        let mut flaws = flaws(&record);
        flaws.retain(|it| !matches!(it, Warning::FellBehind { .. }));
        assert!(flaws.is_empty(), "{flaws:?}");
        assert!(record.counters.committed > 0 && record.counters.check().is_empty(), "{ended}");
        let all = record.generators.expect("there are several");
        assert_eq!(all.summaries.len(), number);
        assert_eq!(
            all.summaries.iter().map(|it| it.committed).sum::<u64>(),
            record.counters.committed
        );
        if load.contains("transactions =") {
            assert_eq!(record.counters.committed, 2001);
        }
        let ledgers = record.audit.checks.iter().filter_map(|check| match check {
            AuditCheck::Ledger { acknowledged, .. } => Some(*acknowledged),
            _ => None,
        });
        let kept = workload.contains("ledger").then_some(record.counters.committed);
        assert!(ledgers.eq(kept), "{:?}", record.audit);
    }
}

/// Starts a run of several trials with generators, and returns when clients work.
fn begun<'b>(bench: &'b Bench, generators: &str) -> Running<'b> {
    let load = "{ clients = 4, duration = \"2s\", warmup = \"0s\" }";
    bench.file("spec.toml", spec(SQLITE, RUSH, load, "").replace("blocks = 1", "blocks = 2"));
    let line = ["run", "spec.toml", "--out", "r", "--generators", generators];
    let run = Running::of(bench, bench.command(&line));
    run.await_phase(Phase::Measure);
    run
}

#[test]
fn a_killed_generator_fails_its_trial_and_the_run_continues() {
    let bench = Bench::new();
    let run = begun(&bench, "2");
    signal("-KILL", generators(&bench)[0]);
    let code = run.ended().code;
    let failed = &failures(&bench.path().join("r"))[0];
    assert!(failed.contains(" was lost: its process was killed (signal 9)"), "{failed}");
    assert!(failed.starts_with("generator "), "{failed}");
    assert_eq!(code, RUN_INCOMPLETE);
    assert_eq!(records(&bench.path().join("r")).len(), 1, "the other trial was measured");
    assert_eq!(generators(&bench), [0_u32; 0], "nothing is left");
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(records(&bench.path().join("r")).len(), 2);
}

#[test]
fn generators_exit_with_a_killed_coordinator_and_runs_resume() {
    let bench = Bench::new();
    let run = begun(&bench, "3");
    let left = generators(&bench);
    assert_eq!(left.len(), 3);
    run.kill();
    wait_until("generators have ended", || !left.iter().any(|pid| is_process(*pid)));
    wait_until("nothing is left", || {
        let names = bench.names();
        processes_with(&bench.path().display().to_string()).is_empty()
            && names.iter().all(|name| name == "r" || name == "spec.toml")
    });
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(records(&bench.path().join("r")).len(), 2);
}

#[test]
fn a_generator_that_is_silent_is_lost() {
    let bench = Bench::new();
    let run = begun(&bench, "2");
    let pid = generators(&bench)[0];
    signal("-STOP", pid);
    run.ended();
    let failed = &failures(&bench.path().join("r"))[0];
    assert!(failed.contains(" was lost: it sent nothing for 3 s"), "{failed}");
    assert!(!is_process(pid), "a process that is stopped is killed");
}

#[test]
fn a_command_starts_generators_and_its_failures_are_shown() {
    let bench = Bench::new();
    let load = "{ clients = 2, transactions = 20, generators = 2 }";
    let launcher =
        |command: &str| format!("launcher = {{ kind = \"command\", command = '''{command}''' }}\n");
    let run = |command: &str, results: &str| {
        let text = spec(SQLITE, RUSH, load, "");
        bench.file(
            "spec.toml",
            text.replacen("workload", &format!("{}workload", launcher(command)), 1),
        );
        bench.dyno(&["run", "spec.toml", "--out", results])
    };
    let ended = run("echo {rank} >> ranks; {generator}", "r");
    assert_eq!(only(&bench, "r", &ended).counters.committed, 20);
    let ranks = std::fs::read_to_string(bench.path().join("ranks")).expect("it was written");
    let mut ranks: Vec<&str> = ranks.lines().collect();
    ranks.sort_unstable();
    assert_eq!(ranks, ["0", "1"]);

    let ended = run("echo no seat left; false {generator}", "r2");
    let reported = "generator 0 did not join: its process ended with exit code 1: no seat left";
    assert!(ended.code == 6 && ended.stderr.contains(reported), "{ended}");
    let ended = run("DYNO_TOKEN=guessed {generator}", "r3");
    let reported = "the coordinator at 127.0.0.1:";
    assert!(ended.code == 6 && ended.stderr.contains(reported), "{ended}");
    assert!(ended.stderr.contains("rejected this generator: its token is wrong"), "{ended}");
    let ended = run("no-such-launcher {generator}", "r4");
    let reported = "the command `launcher.command` runs no-such-launcher, which is not installed";
    assert!(ended.code == 4 && ended.stderr.contains(reported), "{ended}");
    assert!(!bench.path().join("r4").exists(), "{ended}");
}

#[test]
fn indivisible_workloads_and_invalid_launchers_are_refused() {
    let bench = Bench::new();
    let load = "{ clients = [4, 2], duration = \"1s\", generators = 3 }";
    let sql = "{ kind = \"rush\" }";
    for (system, workload, load, more, reported) in [
        (SQLITE, sql, load, "", "3 generators are more than 2 clients"),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\", generators = 3 }",
            "launcher = { kind = \"slurm\" }\n",
            "`S` is part of dyno, and its data are on this machine, but `slurm` starts generators",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\" }",
            "launcher = { kind = \"ssh\" }\n",
            "missing key `hosts` in [launcher]",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\" }",
            "launcher = { kind = \"command\", command = \"true\" }\n",
            "`launcher.command` does not start a generator",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\", generators = 2 }",
            "launcher = { kind = \"kubernetes\" }\n",
            "its data are on this machine, but `kubernetes` starts generators on others",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\" }",
            "launcher = { cpus = 2 }\n",
            "`launcher.cpus` is for `kind = \"kubernetes\"`, not `\"local\"`",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\" }",
            "launcher = { kind = \"kubernetes\", anti_affinity = \"postgres\" }\n",
            "`launcher.anti_affinity` is not a list of labels: `postgres`",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\" }",
            "launcher = { kind = \"kubernetes\", memory = \"2 GB\" }\n",
            "`launcher.memory` is not an amount of memory: `2 GB`",
        ),
        (
            "server = { kind = \"sqlite\" }",
            "{ kind = \"crud\" }",
            "{ clients = 4, duration = \"1s\", generators = 2 }",
            "",
            "cannot be divided among generators: its audit compares what one process has seen",
        ),
        (
            SQLITE,
            "{ kind = \"history\" }",
            "{ clients = 4, duration = \"1s\", generators = 2 }",
            "",
            "cannot be divided among generators: its history is recorded in one process; remove \
             `load.generators`",
        ),
        (
            SQLITE,
            sql,
            "{ clients = 4, duration = \"1s\", generators = 2 }",
            "background = [{ name = \"seen\", clients = 2, workload = { kind = \"history\" } }]\n",
            "[[background]] \"seen\": the clients of this workload cannot be divided among generators: \
             its history",
        ),
    ] {
        let text = spec(system, workload, load, "");
        bench.file("spec.toml", text.replacen("workload", &format!("{more}workload"), 1));
        let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
        assert!(
            [3, 4].contains(&ended.code) && ended.stderr.contains(reported),
            "{reported}: {ended}"
        );
        assert!(!bench.path().join("r").exists(), "{ended}");
    }
}

#[test]
fn unusable_launchers_are_reported_before_the_run() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("bin")).expect("it is ours");
    std::os::unix::fs::symlink("/bin/sh", bench.path().join("bin/sh")).expect("it is ours");
    let text = spec(
        "url = \"null:\"",
        "{ kind = \"oltp_point_select\", tables = 1, table_size = 10 }",
        "{ clients = 4, duration = \"1s\", generators = 2 }",
        "",
    );
    for (launcher, reported) in [
        ("kind = \"slurm\"", "starts generators with srun, which is not installed"),
        ("kind = \"mpi\"", "starts generators with mpirun, which is not installed"),
        ("kind = \"ssh\", hosts = [\"a\"]", "starts generators with ssh, which is not installed"),
        (
            "kind = \"kubernetes\"",
            "starts generators as pods, and this process is not running in a cluster",
        ),
        ("address = \"192.0.2.1\"", "cannot use `launcher.address` 192.0.2.1: Cannot assign"),
        ("address = \"0.0.0.0:0\"", "`launcher.address` 0.0.0.0:0: it is the wildcard address"),
        (
            "address = \"no-such-host.invalid\"",
            "cannot use `launcher.address` no-such-host.invalid",
        ),
    ] {
        let text = text.replacen("workload", &format!("launcher = {{ {launcher} }}\nworkload"), 1);
        bench.file("spec.toml", text);
        for line in [&["run", "spec.toml", "--out", "r"][..], &["plan", "spec.toml"]] {
            let mut command = bench.command(line);
            command.env("PATH", bench.path().join("bin"));
            let ended = Ended::from(command.output().expect("dyno can be started"));
            let all = format!("{}{}", ended.stdout, ended.stderr);
            assert!(ended.code == 4 && all.contains(reported), "{reported}: {ended}");
            let remedy = "give an address of this machine that all generators can reach";
            assert!(!launcher.starts_with("address") || all.contains(remedy), "{ended}");
        }
        assert_eq!(bench.names(), ["bin", "spec.toml"]);
    }
}

#[test]
fn a_generator_without_a_coordinator_says_who_starts_it() {
    let bench = Bench::new();
    let ended = bench.dyno(&["generator"]);
    assert!(ended.code == 2 && ended.stderr.contains("is started by the launcher"), "{ended}");
    let mut command: Command = bench.command(&["generator"]);
    command
        .env("DYNO_COORDINATOR", "nowhere.invalid:1")
        .env("DYNO_KEY", "00")
        .env("DYNO_TOKEN", "t");
    let ended = Ended::from(command.output().expect("dyno can be started"));
    let reported = "cannot reach the coordinator at nowhere.invalid:1";
    assert!(ended.code == 6 && ended.stderr.contains(reported), "{ended}");
}

/// Programs in the place of `srun` and `mpirun`, which start processes and number them as these do,
/// and pass on what they are told to.
pub(super) const SRUN: &str = "#!/bin/sh\nfor it in \"$@\"; do case $it in --ntasks=*) n=${it#--ntasks=};; esac; done\n\
                    while [ \"${1#--}\" != \"$1\" ]; do shift; done\n\
                    while [ $n -gt 0 ]; do n=$((n - 1)); SLURM_PROCID=$n \"$@\" & done; wait\n";
const MPIRUN: &str = "#!/bin/sh\n[ \"$1\" = -n ] || exit 9; n=$2; shift 2; passed=\n\
                      while [ \"$1\" = -x ]; do passed=\"$passed $2\"; shift 2; done\n\
                      [ \"$passed\" = ' DYNO_COORDINATOR DYNO_KEY DYNO_TOKEN' ] || exit 8\n\
                      while [ $n -gt 0 ]; do n=$((n - 1)); OMPI_COMM_WORLD_RANK=$n \"$@\" & done; wait\n";

#[test]
fn srun_and_mpirun_start_all_generators_at_once() {
    let bench = Bench::new();
    for (kind, program, text) in [("slurm", "srun", SRUN), ("mpi", "mpirun", MPIRUN)] {
        let path = bench.file(program, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))
            .expect("it is ours");
        bench.file(
            "spec.toml",
            spec(
                "url = \"null:\"",
                "{ kind = \"oltp_point_select\", tables = 1, table_size = 10 }",
                "{ clients = 5, transactions_per_client = 20 }",
                "",
            ),
        );
        let paths = std::env::var("PATH").expect("there is one");
        let mut command = bench.command(&[
            "run",
            "spec.toml",
            "--out",
            kind,
            "--generators",
            "3",
            "--launcher",
            kind,
        ]);
        command.env("PATH", format!("{}:{paths}", bench.path().display()));
        let ended = Ended::from(command.output().expect("dyno can be started"));
        let record = only(&bench, kind, &ended);
        assert_eq!(record.counters.committed, 100, "{ended}");
        // Generator 0 of 3 has two of five clients, whatever the order in which they came.
        let parts = record.generators.expect("there are several").summaries;
        assert_eq!(parts.iter().map(|it| it.clients).collect::<Vec<_>>(), [2, 2, 1]);
    }
}
