//! Generators, launchers and coordinators are killed at random moments: afterwards no process,
//! session or file is left, and `--resume` measures what is missing.

use super::namespaces::Machines;
use super::services::{Daemon, generators, ports, slurm, ssh};
use crate::ends::RUN_INCOMPLETE;
use crate::program::{Bench, Ended, records};
use crate::running::Running;
use crate::shop::ask;
use dyno_engine::random::{Random, Stream};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_store::Run;
use dyno_testkit::{RunningServer, processes_with, running_server};
use std::fs::{read_to_string, remove_dir_all};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often each is killed.
const KILLS: u64 = 10;

/// Everything must be gone after this time.
const LEFT_LIMIT: Duration = Duration::from_secs(10);

/// How long a generator is cut off.
const PARTITION: Duration = Duration::from_secs(30);

const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity \
                        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

/// Runs with a launcher on a server that already runs.
struct Campaign {
    bench: Bench,
    /// `None`: the null server, of which each process has its own.
    server: Option<RunningServer>,
    /// The launcher's process.
    launcher: &'static str,
    environment: Vec<(&'static str, String)>,
    _daemons: Vec<Daemon>,
    random: Random,
}

impl Campaign {
    #[expect(clippy::print_stderr, reason = "progress of a test that takes minutes")]
    fn new(
        bench: Bench,
        launcher: &'static str,
        server: Option<RunningServer>,
        daemons: Vec<Daemon>,
        environment: &[(&'static str, String)],
    ) -> Self {
        let mut environment = environment.to_vec();
        if let Some(server) = &server {
            let password = server.target().password.reveal().to_owned();
            environment.push(("DYNO_TEST_PASSWORD", password));
        }
        let seed = Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id());
        eprintln!("seed {seed}");
        let random = Random::new(seed, Stream::Data, 0, 0);
        Self { bench, server, launcher, environment, _daemons: daemons, random }
    }

    fn spec(&self, launcher: &str) {
        let system = match self.server.as_ref().map(RunningServer::target) {
            Some(Target { endpoint: Endpoint::Tcp { host, port }, user, database, .. }) => format!(
                "url = \"postgres://{user}@{host}:{port}/{database}\"\n\
                 password_env = \"DYNO_TEST_PASSWORD\"\n\
                 [workload]\nkind = \"rush\"\nvariant = \"in-place\"\nrows = 100\n"
            ),
            _ => {
                "url = \"null:latency_us=1000\"\n[workload]\nkind = \"oltp_point_select\"\n".into()
            }
        };
        self.bench.file(
            "spec.toml",
            format!(
                "title = \"Killed\"\n[[system]]\nname = \"S\"\n{system}\
                 [load]\nclients = 4\nduration = \"1s\"\nwarmup = \"0s\"\ngenerators = 2\n\
                 [design]\nblocks = 2\n[launcher]\n{launcher}\n"
            ),
        );
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = self.bench.command(line);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Processes of the run with this name.
    fn named(&self, name: &str) -> Vec<u32> {
        let is_named = |pid: &u32| {
            read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
        };
        let own = processes_with(&self.bench.path().display().to_string());
        own.into_iter().filter(is_named).collect()
    }

    /// What a run should have taken with it.
    fn left(&self) -> Vec<String> {
        let mut left: Vec<String> =
            generators(&self.bench).iter().map(|pid| format!("generator {pid}")).collect();
        left.extend(self.named(self.launcher).iter().map(|pid| format!("process {pid}")));
        let names = self.bench.names();
        left.extend(names.into_iter().filter(|name| name.starts_with("dyno-")));
        let sessions = self.server.as_ref().map(|server| ask(&server.target(), SESSIONS));
        left.extend(sessions.filter(|it| it != "0").map(|it| format!("{it} sessions")));
        left
    }

    /// Interferes with runs at random moments; `interfere` returns whether there was something to
    /// interfere with.
    #[expect(clippy::print_stderr, reason = "progress of a test that takes minutes")]
    fn run(
        &mut self,
        killed: &str,
        mut interfere: impl FnMut(&Self, &mut Option<Running<'_>>) -> bool,
    ) {
        let (mut met, mut slowest) = (0, Duration::ZERO);
        for number in 0..3 * KILLS {
            if met == KILLS {
                break;
            }
            let folder = format!("r{number}");
            let line = ["run", "spec.toml", "--out", &folder];
            let moment = Duration::from_millis(self.random.below(4_500));
            let mut run = Some(Running::of(&self.bench, self.command(&line)));
            sleep(moment);
            let is_met = interfere(self, &mut run);
            met += u64::from(is_met);
            let ended = run.map(Running::ended);
            let since = Instant::now();
            while !self.left().is_empty() {
                let left = self.left();
                assert!(since.elapsed() < LEFT_LIMIT, "{killed} at {moment:?} leaves {left:?}");
                sleep(Duration::from_millis(20));
            }
            slowest = slowest.max(since.elapsed());
            let code = ended.as_ref().map(|ended| ended.code);
            eprintln!("{killed} at {moment:?}: met {is_met}, exit code {code:?}");
            if let Some(ended) = &ended {
                assert!(ended.is_done() || ended.code == RUN_INCOMPLETE, "{moment:?}: {ended}");
            }
            self.complete(&folder, moment);
        }
        eprintln!("{killed}: {met} met; nothing was left after {slowest:?} at the latest");
        assert_eq!(met, KILLS);
    }

    /// `--resume` measures what is missing.
    fn complete(&self, folder: &str, moment: Duration) {
        let path = self.bench.path().join(folder);
        let line: &[&str] = if Run::open(&path).is_ok() {
            &["run", "--resume", folder]
        } else {
            // Ended before its plan was written.
            let _ = remove_dir_all(&path);
            &["run", "spec.toml", "--out", folder]
        };
        let resumed = Ended::from(self.command(line).output().expect("dyno can be started"));
        assert!(resumed.is_done(), "{moment:?}: {resumed}");
        let records = records(&path);
        assert_eq!(records.len(), 2, "{moment:?}: {resumed}");
        for record in records {
            let is_audited = self.server.is_some();
            let expected = if is_audited { AuditVerdict::Intact } else { AuditVerdict::NotChecked };
            assert_eq!(record.audit.verdict(), expected, "{moment:?}: {resumed}");
        }
        assert_eq!(self.left(), [""; 0], "{moment:?}");
        remove_dir_all(&path).expect("results of ours");
    }
}

fn kill(pids: &[u32]) -> bool {
    let Some(pid) = pids.first() else { return false };
    // It may have ended a moment ago.
    Command::new("kill").args(["-KILL", &pid.to_string()]).status().is_ok_and(|it| it.success())
}

fn postgres() -> Option<RunningServer> {
    running_server(ServerKind::Postgres, &[])
}

#[test]
#[ignore = "some minutes; a generator and the coordinator are killed at ten random moments each"]
fn generators_and_coordinators_may_be_killed_at_any_moment() {
    let mut campaign = Campaign::new(Bench::new(), "dyno", postgres(), Vec::new(), &[]);
    campaign.spec("kind = \"local\"");
    campaign.run("a generator", |it, _| kill(&generators(&it.bench)));
    campaign.run("the coordinator", |_, run| {
        let mut running = run.take().expect("it was started");
        let is_over = running.is_over();
        if is_over {
            running.ended();
        } else {
            running.kill();
        }
        !is_over
    });
}

#[test]
#[ignore = "some minutes; srun is killed at ten random moments"]
fn srun_may_be_killed_at_any_moment() {
    let bench = Bench::new();
    let daemons = slurm(&bench);
    let configuration = bench.path().join("slurm.conf").display().to_string();
    let environment = [("SLURM_CONF", configuration)];
    let mut campaign = Campaign::new(bench, "srun", postgres(), daemons, &environment);
    campaign.spec("kind = \"slurm\"");
    campaign.run("srun", |it, _| kill(&it.named("srun")));
}

#[test]
#[ignore = "some minutes; mpirun is killed at ten random moments"]
fn mpirun_may_be_killed_at_any_moment() {
    let allow = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    // It counts processors, of which this machine may have two.
    let variables = allow.into_iter().chain(["OMPI_MCA_rmaps_base_oversubscribe"]);
    let environment: Vec<_> = variables.map(|name| (name, "1".to_owned())).collect();
    let mut campaign = Campaign::new(Bench::new(), "mpirun", postgres(), Vec::new(), &environment);
    campaign.spec("kind = \"mpi\"");
    campaign.run("mpirun", |it, _| kill(&it.named("mpirun")));
}

#[test]
#[ignore = "some minutes; ssh is killed at ten random moments"]
fn ssh_may_be_killed_at_any_moment() {
    let bench = Bench::new();
    let [port] = ports();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (daemons, paths) = ssh(&bench, &[("load1 load2", address, &[])]);
    let program = bench.path().join("dyno");
    let mut campaign = Campaign::new(bench, "ssh", postgres(), daemons, &[("PATH", paths)]);
    campaign.spec(&format!(
        "kind = \"ssh\"\nhosts = [\"load1\", \"load2\"]\nprogram = \"{}\"",
        program.display()
    ));
    campaign.run("ssh", |it, _| kill(&it.named("ssh")));
}

#[test]
#[ignore = "ten minutes; a generator is cut off for 30 s at ten random moments"]
fn a_generator_may_be_cut_off_at_any_moment() {
    let (bench, machines) = (Bench::new(), Machines::new());
    let (daemons, paths) = machines.ssh(&bench);
    let program = bench.path().join("dyno");
    let mut campaign = Campaign::new(bench, "ssh", None, daemons, &[("PATH", paths)]);
    campaign.spec(&format!(
        "kind = \"ssh\"\nhosts = [\"load2\", \"load3\"]\nprogram = \"{}\"",
        program.display()
    ));
    campaign.run("the network", |it, _| {
        let is_met = !generators(&it.bench).is_empty();
        machines.cut_off(3);
        sleep(PARTITION);
        machines.reconnect(3);
        is_met
    });
}
