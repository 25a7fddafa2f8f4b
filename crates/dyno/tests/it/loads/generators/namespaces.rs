//! Several machines for real: network namespaces with an address of their own, joined by a bridge.

use super::services::{Daemon, generators, installed, output_of, ssh};
use crate::program::{Bench, Ended, failures, records};
use dyno_testkit::wait_until;
use std::fs::{File, read_to_string};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// Two namespaces on a bridge, which has the addresses of a network that documents use.
pub(super) struct Machines {
    /// What names begin with; interfaces have at most 15 characters.
    name: String,
}

impl Machines {
    pub(super) fn new() -> Self {
        Self::remove_leftovers();
        let it = Self { name: format!("dyno{}", std::process::id()) };
        let (name, bridge) = (&it.name, it.bridge());
        ip(&["link", "add", &bridge, "type", "bridge"]);
        ip(&["address", "add", "198.51.100.1/24", "dev", &bridge]);
        ip(&["link", "set", &bridge, "up"]);
        for number in [2, 3] {
            let (machine, port) = (format!("{name}m{number}"), it.port(number));
            ip(&["netns", "add", &machine]);
            let peer = ["peer", "name", "eth0", "netns", &machine];
            ip(&[&["link", "add", &port, "type", "veth"][..], &peer].concat());
            ip(&["link", "set", &port, "master", &bridge, "up"]);
            let address = format!("198.51.100.{number}/24");
            ip(&["-n", &machine, "address", "add", &address, "dev", "eth0"]);
            for interface in ["lo", "eth0"] {
                ip(&["-n", &machine, "link", "set", interface, "up"]);
            }
        }
        it
    }

    /// Removes what a killed process left: two bridges cannot have the same network.
    fn remove_leftovers() {
        for line in output_of("ip", &["-o", "link", "show", "type", "bridge"]).lines() {
            let name =
                line.split([' ', ':']).filter(|it| !it.is_empty()).nth(1).unwrap_or_default();
            let pid = name.strip_prefix("dyno").and_then(|it| it.strip_suffix('b'));
            if let Some(pid) = pid.filter(|pid| !Path::new("/proc").join(pid).exists()) {
                drop(Self { name: format!("dyno{pid}") });
            }
        }
    }

    /// An sshd on each, as the hosts `load2` and `load3`, and the `PATH` of an ssh that reaches
    /// them.
    pub(super) fn ssh(&self, bench: &Bench) -> (Vec<Daemon>, String) {
        let address = |number: u8| SocketAddr::from(([198, 51, 100, number], 2_022));
        let [second, third] = [2, 3].map(|number| format!("{}m{number}", self.name));
        let within = |machine| ["ip", "netns", "exec", machine];
        let (second, third) = (within(&second), within(&third));
        ssh(bench, &[("load2", address(2), &second), ("load3", address(3), &third)])
    }

    /// As if a cable were pulled: packets are lost, and neither side gets an error.
    pub(super) fn cut_off(&self, number: u32) {
        ip(&["link", "set", &self.port(number), "down"]);
    }

    pub(super) fn reconnect(&self, number: u32) {
        ip(&["link", "set", &self.port(number), "up"]);
    }

    fn bridge(&self) -> String {
        format!("{}b", self.name)
    }

    fn port(&self, number: u32) -> String {
        format!("{}p{number}", self.name)
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for line in [
            &["link", "delete", &self.bridge()][..],
            &["netns", "delete", &format!("{}m2", self.name)],
            &["netns", "delete", &format!("{}m3", self.name)],
        ] {
            let _ = Command::new("ip").args(line).output();
        }
    }
}

fn ip(line: &[&str]) {
    output_of("ip", line);
}

#[test]
fn a_disconnected_generator_fails_its_trial_and_the_run_resumes() {
    if installed("sshd").is_none() || installed("ip").is_none() {
        return;
    }
    if output_of("id", &["-u"]) != "0" {
        eprintln!("skipped: only root can make network namespaces");
        return;
    }
    let (bench, machines) = (Bench::new(), Machines::new());
    let (_sshd, paths) = machines.ssh(&bench);
    bench.file("nap.sql", "SELECT 1;\n\\sleep 2 ms\n");
    bench.file(
        "spec.toml",
        format!(
            "title = \"Cut off\"\nsystem = [{{ name = \"S\", url = \"null:\", data = \"existing\" }}]\n\
             workload = {{ kind = \"sql\", scripts = [\"nap.sql\"] }}\n\
             load = {{ clients = 4, duration = \"2s\", warmup = \"0s\", generators = 2 }}\n\
             design = {{ blocks = 2 }}\n\
             launcher = {{ kind = \"ssh\", hosts = [\"load2\", \"load3\"], program = \"{}/dyno\" }}\n",
            bench.path().display()
        ),
    );
    let command = |line: &[&str]| {
        let mut command = bench.command(line);
        command.env("PATH", &paths);
        command
    };
    let output = File::create(bench.path().join("output")).expect("it is ours");
    let mut run = command(&["run", "spec.toml", "--out", "r"])
        .stderr(output.try_clone().expect("a file can be shared"))
        .stdout(output)
        .spawn()
        .expect("dyno can be started");
    let output = || read_to_string(bench.path().join("output")).expect("it was made");
    let has = |text: &str| {
        read_to_string(bench.path().join("r/events.jsonl")).is_ok_and(|all| all.contains(text))
    };
    wait_until("clients work", || {
        assert_eq!(run.try_wait().expect("it is our child"), None, "{}", output());
        has(r#""phase":"measure""#)
    });
    let cut_off = generators(&bench);
    assert_eq!(cut_off.len(), 2);
    machines.cut_off(3);
    wait_until("the trial has failed", || has("trial-failed"));
    wait_until("both generators have ended", || {
        !generators(&bench).iter().any(|pid| cut_off.contains(pid))
    });
    machines.reconnect(3);
    assert_eq!(run.wait().expect("it ends").code(), Some(6), "{}", output());
    let failed = &failures(&bench.path().join("r"))[0];
    assert!(failed.starts_with("generator 1 (") && failed.contains("it sent nothing"), "{failed}");
    let resumed = command(&["run", "--resume", "r"]).output().expect("dyno can be started");
    let resumed = Ended::from(resumed);
    assert!(resumed.is_done(), "{resumed}");
    assert_eq!(records(&bench.path().join("r")).len(), 2);
    assert_eq!(generators(&bench), [0_u32; 0], "nothing is left");
}
