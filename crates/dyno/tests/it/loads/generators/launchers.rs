//! Launchers for real: processes of this machine, Slurm with two nodes, Open MPI and ssh. Each runs
//! `experiments/rush.toml`, smaller, on two servers; then what it started for the second is killed.

use super::services::{Daemon, generators, installed, ports, slurm, ssh};
use crate::program::{Bench, Ended, failures, records, signal};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_testkit::{processes_with, repository, require_server, wait_until};
use std::fs::{File, Permissions, read_to_string, set_permissions, write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// The counters of the experiment on MariaDB and PostgreSQL, two seconds each, with ten clients of
/// four generators.
fn spec(launcher: &str) -> String {
    let mut text = repository::text("experiments/rush.toml");
    let published = text.find("# What the study published").expect("they are last");
    text.truncate(published);
    for (shipped, small) in [
        ("[[system]]\nname = \"MySQL\"\nserver = { kind = \"mysql\" }\n", ""),
        (r#"["read-modify-write", "in-place", "for-update", "optimistic"]"#, r#"["in-place"]"#),
        ("clients = [1, 20, 40, 60, 80, 100]", "clients = 10\ngenerators = 4\nwarmup = \"0s\""),
        ("transactions = 10_000", "duration = \"2s\""),
        ("blocks = 3", "blocks = 1"),
    ] {
        assert!(text.contains(shipped), "the experiment has no longer {shipped}");
        text = text.replacen(shipped, small, 1);
    }
    format!("{text}\n[launcher]\n{launcher}\n")
}

/// Runs the experiment. If a process of this name is killed in its second trial, the trial fails
/// for this reason, nothing is left, and `--resume` completes the run.
fn rush(
    bench: &Bench,
    launcher: &str,
    killed: Option<(&str, &str)>,
    change: impl Fn(&mut Command),
) {
    if [ServerKind::Mariadb, ServerKind::Postgres]
        .into_iter()
        .any(|it| require_server(it).is_none())
    {
        return;
    }
    bench.file("spec.toml", spec(launcher));
    let command = |line: &[&str]| {
        let mut command = bench.command(line);
        change(&mut command);
        command
    };
    let mut run = command(&["run", "spec.toml", "--out", "r"]);
    let output = File::create(bench.path().join("output")).expect("it is ours");
    run.stderr(output.try_clone().expect("a file can be shared")).stdout(output);
    let mut run = run.spawn().expect("dyno can be started");
    let output = || read_to_string(bench.path().join("output")).expect("it was made");
    if let Some((name, reason)) = killed {
        wait_until("the second trial is measured", || {
            assert_eq!(run.try_wait().expect("it is our child"), None, "{}", output());
            let events = read_to_string(bench.path().join("r/events.jsonl")).unwrap_or_default();
            events.matches(r#""phase":"measure""#).count() == 2
        });
        let is_named = |pid: &u32| {
            read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
        };
        let own = processes_with(&bench.path().display().to_string());
        signal("-KILL", *own.iter().find(|pid| is_named(pid)).expect("it runs"));
        assert_eq!(run.wait().expect("it ends").code(), Some(6), "{}", output());
        let failed = &failures(&bench.path().join("r"))[0];
        assert!(failed.contains(" lost: ") && failed.ends_with(reason), "{failed}");
        wait_until("nothing of the trial is left", || {
            let own = processes_with(&bench.path().display().to_string());
            generators(bench).is_empty() && !own.iter().any(is_named)
        });
        let resumed = command(&["run", "--resume", "r"]).output().expect("dyno can be started");
        let resumed = Ended::from(resumed);
        assert!(resumed.is_done(), "{resumed}");
    } else {
        assert!(run.wait().expect("it ends").success(), "{}", output());
    }
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 2);
    let host = read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    for record in records {
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
        // Each is the generator that its launcher says, whatever the order in which they came.
        let parts = record.generators.expect("there are several").summaries;
        assert_eq!(parts.iter().map(|it| it.clients).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert!(parts.iter().all(|it| it.host == host.trim() && it.committed > 0), "{parts:?}");
        let committed: u64 = parts.iter().map(|it| it.committed).sum();
        assert_eq!(committed, record.counters.committed);
    }
    wait_until("no generator is left", || generators(bench).is_empty());
    let names = bench.names();
    assert!(!names.iter().any(|it| it.starts_with("dyno-") || it.starts_with("ompi")), "{names:?}");
}

#[test]
fn processes_of_this_machine_are_generators() {
    rush(&Bench::new(), "kind = \"local\"", None, |_| ());
}

#[test]
fn slurm_runs_generators_on_its_nodes_and_may_lose_srun() {
    let programs = ["munged", "slurmctld", "slurmd", "srun"];
    if programs.into_iter().any(|program| installed(program).is_none()) {
        return;
    }
    let bench = Bench::new();
    let _slurm: Vec<Daemon> = slurm(&bench);
    let killed = ("srun", "the launcher was killed (signal 9)");
    rush(&bench, "kind = \"slurm\"", Some(killed), |command| {
        command.env("SLURM_CONF", bench.path().join("slurm.conf"));
    });
    for node in ["node0", "node1"] {
        let log = read_to_string(bench.path().join(format!("{node}.log"))).expect("it is there");
        assert!(log.contains("launch task"), "{node}: {log}");
    }
}

/// A launcher that ends shortly after it lost a generator; the other one ends with it.
const LAUNCHER: &str = r#"#!/bin/sh
shift 8
OMPI_COMM_WORLD_RANK=0 "$@" &
OMPI_COMM_WORLD_RANK=1 "$@" &
lost=$!
until grep -q '"phase":"measure"' r/events.jsonl; do sleep 0.05; done
kill -KILL $lost
sleep 0.5
exit 7
"#;

#[test]
fn the_generator_that_a_launcher_lost_is_named() {
    let bench = Bench::new();
    let programs = bench.path().join("bin");
    let mpirun = programs.join("mpirun");
    std::fs::create_dir(&programs).expect("it is ours");
    write(&mpirun, LAUNCHER).expect("it is ours");
    set_permissions(&mpirun, Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("it is set");
    let ended = bench
        .command(&["run", "null:", "--workload", "oltp_point_select", "--clients", "2"])
        .args(["--duration", "20s", "--generators", "2", "--launcher", "mpi", "--out", "r"])
        .env("PATH", format!("{}:{path}", programs.display()))
        .output();
    let ended = Ended::from(ended.expect("dyno can be started"));
    let expected = " was lost: the launcher ended with exit code 7";
    let reason = &failures(&bench.path().join("r"))[0];
    assert!(reason.starts_with("generator 1 ") && reason.ends_with(expected), "{ended}");
}

#[test]
fn open_mpi_runs_generators_and_may_lose_mpirun() {
    if installed("mpirun").is_none() {
        return;
    }
    let killed = ("mpirun", "the launcher was killed (signal 9)");
    rush(&Bench::new(), "kind = \"mpi\"", Some(killed), |command| {
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            // It counts processors, of which this machine may have two.
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    });
}

#[test]
fn ssh_generators_connect_through_ssh_and_may_be_lost() {
    if installed("sshd").is_none() {
        return;
    }
    let bench = Bench::new();
    let [port] = ports();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (_sshd, paths) = ssh(&bench, &[("load1 load2", address, &[])]);
    let launcher = format!(
        "kind = \"ssh\"\nhosts = [\"load1\", \"load2\"]\nprogram = \"{}/dyno\"",
        bench.path().display()
    );
    rush(&bench, &launcher, Some(("ssh", "its process was killed (signal 9)")), |command| {
        command.env("PATH", &paths);
    });
    let log = read_to_string(bench.path().join("sshd0.log")).expect("it is there");
    assert_eq!(log.matches("Accepted publickey").count(), 2 * 4, "{log}");
}
