//! Launchers for real: Slurm with two nodes, Open MPI and ssh. Their servers run in a folder of the
//! test.

use crate::program::{Bench, Ended, records};
use dyno_testkit::{REQUIRE_SERVERS, processes_with, wait_until};
use std::fs::{File, Permissions, read_to_string, set_permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A server that ends with the test, however that ends.
struct Daemon(Child);

impl Daemon {
    /// Its output goes to a file `NAME.log`.
    fn start(bench: &Bench, name: &str, line: &[&str]) -> Self {
        let log = File::create(bench.path().join(format!("{name}.log"))).expect("it is ours");
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(line)
            .env("SLURM_CONF", bench.path().join("slurm.conf"))
            .stdout(log.try_clone().expect("a file can be shared"))
            .stderr(log)
            .spawn();
        Self(child.expect("setpriv is part of every Debian"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The path of a program that scripts/servers installs.
fn installed(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/usr/sbin"].map(|folder| Path::new(folder).join(program));
    let found = folders.into_iter().find(|path| path.exists());
    let is_required = std::env::var_os(REQUIRE_SERVERS).is_some_and(|value| value == "1");
    assert!(found.is_some() || !is_required, "{program} is missing; scripts/servers installs it");
    found
}

/// Ports that were free a moment ago.
fn ports<const N: usize>() -> [u16; N] {
    let taken = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
    taken.each_ref().map(|it| it.local_addr().expect("it has one").port())
}

/// The output of a program.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it can be started");
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).expect("it is text").trim().to_owned()
}

/// Runs a trial of 100 transactions of five clients with three generators.
fn divided(bench: &Bench, launcher: &str, change: impl FnOnce(&mut Command)) {
    bench.file(
        "spec.toml",
        format!(
            "title = \"Divided\"\nsystem = [{{ name = \"S\", url = \"null:\" }}]\n\
             workload = {{ kind = \"oltp_point_select\", tables = 1, table_size = 10 }}\n\
             load = {{ clients = 5, transactions_per_client = 20, generators = 3 }}\n\
             design = {{ blocks = 1 }}\nlauncher = {{ {launcher} }}\n"
        ),
    );
    let mut command = bench.command(&["run", "spec.toml", "--out", "r"]);
    change(&mut command);
    let ended = Ended::from(command.output().expect("dyno can be started"));
    let mut records = records(&bench.path().join("r"));
    assert!(ended.is_done() && records.len() == 1, "{ended}");
    let record = records.remove(0);
    assert_eq!(record.counters.committed, 100, "{ended}");
    // Each is the generator that its launcher says, whatever the order in which they came.
    let parts = record.generators.expect("there are several").parts;
    assert_eq!(parts.iter().map(|it| it.clients).collect::<Vec<_>>(), [2, 2, 1]);
    let host = read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    assert!(
        parts.iter().all(|it| it.host == host.trim() && it.committed == 20 * u64::from(it.clients))
    );
    wait_until("nothing of dyno is left", || {
        let is_generator = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.ends_with(b"\0generator\0")
        };
        !processes_with(&bench.path().display().to_string()).iter().any(is_generator)
    });
}

/// Slurm with two nodes of two processors each on this machine.
fn slurm(bench: &Bench) -> Vec<Daemon> {
    let folder = bench.path().display().to_string();
    // munge refuses a socket that not all can reach.
    set_permissions(bench.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let key = bench.file("munge.key", [7; 64]);
    set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
    let host = read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let host = host.trim();
    let user = said("id", &["-un"]);
    let [control, first, second] = ports();
    // Without cgroups, accounting or a daemon of the system.
    bench.file(
        "slurm.conf",
        format!(
            "ClusterName=dyno\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\n\
             SlurmUser={user}\nSlurmdUser={user}\nAuthType=auth/munge\nCredType=cred/munge\n\
             AuthInfo=socket={folder}/munge.socket\nStateSaveLocation={folder}/state\n\
             SlurmdSpoolDir={folder}/spool-%n\nSlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nSelectType=select/linear\nMpiDefault=none\nSwitchType=switch/none\n\
             AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
             ReturnToService=2\nSlurmdParameters=config_overrides\n\
             NodeName=node0 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=2\n\
             NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=2\n\
             PartitionName=all Nodes=ALL Default=YES State=UP\n"
        ),
    );
    std::fs::create_dir(bench.path().join("state")).expect("it is ours");
    let munge = [
        "munged",
        "--foreground",
        &format!("--socket={folder}/munge.socket"),
        &format!("--key-file={folder}/munge.key"),
        &format!("--pid-file={folder}/munge.pid"),
        &format!("--seed-file={folder}/munge.seed"),
    ];
    let mut all = vec![Daemon::start(bench, "munged", &munge)];
    wait_until("munge listens", || bench.path().join("munge.socket").exists());
    all.push(Daemon::start(bench, "slurmctld", &["slurmctld", "-D", "-c"]));
    for node in ["node0", "node1"] {
        all.push(Daemon::start(bench, node, &["slurmd", "-D", "-N", node]));
    }
    wait_until("two nodes are idle", || {
        let mut command = Command::new("sinfo");
        command.args(["--noheader", "--format=%T %D"]);
        let output = command.env("SLURM_CONF", bench.path().join("slurm.conf")).output();
        output.is_ok_and(|output| output.stdout.starts_with(b"idle 2"))
    });
    all
}

#[test]
fn slurm_runs_generators_on_its_nodes() {
    let programs = ["munged", "slurmctld", "slurmd", "srun"];
    if programs.into_iter().any(|program| installed(program).is_none()) {
        return;
    }
    let bench = Bench::new();
    let _slurm = slurm(&bench);
    divided(&bench, "kind = \"slurm\"", |command| {
        command.env("SLURM_CONF", bench.path().join("slurm.conf"));
    });
    for node in ["node0", "node1"] {
        let log = read_to_string(bench.path().join(format!("{node}.log"))).expect("it is there");
        assert!(log.contains("launch task"), "{node}: {log}");
    }
}

#[test]
fn open_mpi_runs_generators() {
    if installed("mpirun").is_none() {
        return;
    }
    let bench = Bench::new();
    divided(&bench, "kind = \"mpi\"", |command| {
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            // It counts processors, of which this machine may have two.
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    });
}

#[test]
fn ssh_runs_generators_that_reach_the_coordinator_through_it() {
    let Some(sshd) = installed("sshd") else { return };
    let bench = Bench::new();
    let folder = bench.path().display().to_string();
    for name in ["host", "user"] {
        said("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &format!("{folder}/{name}")]);
    }
    let [port] = ports();
    bench.file(
        "sshd_config",
        format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n\
             AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nPermitRootLogin yes\n\
             PasswordAuthentication no\n"
        ),
    );
    let key = read_to_string(bench.path().join("host.pub")).expect("it was made");
    bench.file("known", format!("[127.0.0.1]:{port} {key}"));
    bench.file(
        "ssh_config",
        format!(
            "Host load1 load2\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n \
             IdentitiesOnly yes\n UserKnownHostsFile {folder}/known\n StrictHostKeyChecking yes\n"
        ),
    );
    // ssh looks for its configuration in the account's home folder only.
    std::fs::create_dir(bench.path().join("bin")).expect("it is ours");
    let ssh = bench
        .file("bin/ssh", format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n"));
    set_permissions(ssh, Permissions::from_mode(0o700)).expect("it is ours");
    // As root, sshd changes into this folder, which Debian's service makes at its start.
    let _ = std::fs::create_dir("/run/sshd");
    let line = [&sshd.display().to_string(), "-D", "-e", "-f", &format!("{folder}/sshd_config")];
    let _sshd = Daemon::start(&bench, "sshd", &line);
    let log = bench.path().join("sshd.log");
    wait_until("sshd listens", || {
        read_to_string(&log).is_ok_and(|log| log.contains("Server listening"))
    });
    let paths = std::env::var("PATH").expect("there is one");
    let launcher = format!(
        "kind = \"ssh\", hosts = [\"load1\", \"load2\"], program = \"{}\"",
        env!("CARGO_BIN_EXE_dyno")
    );
    divided(&bench, &launcher, |command| {
        command.env("PATH", format!("{folder}/bin:{paths}"));
    });
    let log = read_to_string(log).expect("it is there");
    assert_eq!(log.matches("Accepted publickey").count(), 3, "{log}");
}
