//! What the tests of launchers start in their folders, and what is left of generators.

use super::division::SRUN;
use crate::program::{Bench, Ended};
use dyno_testkit::{REQUIRE_SERVERS, processes_with, wait_until};
use std::fs::{File, Permissions, create_dir, read_to_string, set_permissions};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A server that ends with the test, however that ends.
pub(super) struct Daemon(Child);

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
pub(super) fn installed(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/usr/sbin"].map(|folder| Path::new(folder).join(program));
    let found = folders.into_iter().find(|path| path.exists());
    let is_required = std::env::var_os(REQUIRE_SERVERS).is_some_and(|value| value == "1");
    assert!(found.is_some() || !is_required, "{program} is missing; scripts/servers installs it");
    found
}

/// Ports that were free a moment ago.
pub(super) fn ports<const N: usize>() -> [u16; N] {
    let taken = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
    taken.each_ref().map(|it| it.local_addr().expect("it has one").port())
}

/// The output of a program.
pub(super) fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it can be started");
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).expect("it is text").trim().to_owned()
}

/// Slurm with two nodes of two processors each on this machine.
pub(super) fn slurm(bench: &Bench) -> Vec<Daemon> {
    let folder = bench.path().display().to_string();
    // munge refuses a socket that not all can reach.
    set_permissions(bench.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let key = bench.file("munge.key", [7; 64]);
    set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
    let host = read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let host = host.trim();
    let user = output_of("id", &["-un"]);
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
    create_dir(bench.path().join("state")).expect("it is ours");
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

/// A machine that ssh reaches: its names, where sshd listens, and what starts a program on it.
pub(super) type Machine<'a> = (&'a str, SocketAddr, &'a [&'a str]);

/// An sshd on each machine, and the `PATH` of an ssh that reaches them. Generators are started as
/// the program `dyno` of the folder, which shows whose they are.
pub(super) fn ssh(bench: &Bench, machines: &[Machine<'_>]) -> (Vec<Daemon>, String) {
    let folder = bench.path().display().to_string();
    let sshd = installed("sshd").expect("it was looked for").display().to_string();
    for name in ["host", "user"] {
        output_of(
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", "", "-f", &format!("{folder}/{name}")],
        );
    }
    let key = read_to_string(bench.path().join("host.pub")).expect("it was made");
    // As root, sshd changes into this folder, which Debian's service makes at its start.
    let _ = create_dir("/run/sshd");
    let (mut known, mut hosts, mut daemons) = (String::new(), String::new(), Vec::new());
    for (number, (names, address, beginning)) in machines.iter().enumerate() {
        let (ip, port) = (address.ip(), address.port());
        known += &format!("[{ip}]:{port} {key}");
        hosts += &format!(
            "Host {names}\n HostName {ip}\n Port {port}\n IdentityFile {folder}/user\n \
             IdentitiesOnly yes\n UserKnownHostsFile {folder}/known\n StrictHostKeyChecking yes\n"
        );
        let configuration = format!("{folder}/sshd{number}.conf");
        let text = format!(
            "Port {port}\nListenAddress {ip}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n\
             AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nPermitRootLogin yes\n\
             PasswordAuthentication no\n"
        );
        std::fs::write(&configuration, text).expect("it is ours");
        let line = [*beginning, &[&sshd, "-D", "-e", "-f", &configuration]].concat();
        let name = format!("sshd{number}");
        daemons.push(Daemon::start(bench, &name, &line));
        let log = bench.path().join(format!("{name}.log"));
        wait_until("sshd listens", || {
            read_to_string(&log).is_ok_and(|log| log.contains("Server listening"))
        });
    }
    bench.file("known", known);
    bench.file("ssh_config", hosts);
    // ssh looks for its configuration in the account's home folder only.
    create_dir(bench.path().join("bin")).expect("it is ours");
    let ssh = bench
        .file("bin/ssh", format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n"));
    set_permissions(ssh, Permissions::from_mode(0o700)).expect("it is ours");
    symlink(env!("CARGO_BIN_EXE_dyno"), bench.path().join("dyno")).expect("it is ours");
    let paths = std::env::var("PATH").expect("there is one");
    (daemons, format!("{folder}/bin:{paths}"))
}

/// Processes that are generators of a run, without the launchers whose command lines end likewise.
pub(super) fn generators(bench: &Bench) -> Vec<u32> {
    let is_generator = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
        program.ends_with(b"dyno") && line.ends_with(b"\0generator\0")
    };
    processes_with(&bench.path().display().to_string()).into_iter().filter(is_generator).collect()
}

/// Runs dyno with a `srun` that starts generators in a folder without any files.
pub(super) fn elsewhere(bench: &Bench, arguments: &[&str]) -> Ended {
    let folder = bench.path().join("elsewhere");
    std::fs::create_dir_all(&folder).expect("it is ours");
    let program = SRUN.replacen('\n', &format!("\ncd {}\n", folder.display()), 1);
    set_permissions(bench.file("srun", program), Permissions::from_mode(0o700))
        .expect("it is ours");
    let paths = std::env::var("PATH").expect("there is one");
    let mut command = bench.command(arguments);
    command.env("PATH", format!("{}:{paths}", bench.path().display()));
    Ended::from(command.output().expect("dyno can be started"))
}
