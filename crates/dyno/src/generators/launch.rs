//! The command lines that start generators. What a generator needs to know to find its coordinator
//! is in its environment, or on its standard input where the environment does not reach; never
//! among its arguments, which all users of a machine can read.

use dyno_host::random::token;
use dyno_host::shell::missing_command;
use dyno_model::launcher::{LauncherKind, LauncherPlan};
use std::net::SocketAddr;
use std::time::Duration;

/// Variables that tell a generator where its coordinator is, the fingerprint of its key, the token,
/// and its own number.
pub(super) const COORDINATOR: &str = "DYNO_COORDINATOR";
pub(super) const KEY: &str = "DYNO_KEY";
pub(super) const TOKEN: &str = "DYNO_TOKEN";
pub(super) const RANK: &str = "DYNO_RANK";

/// The variable that names the folder for temporary files.
pub(super) const TMPDIR: &str = "TMPDIR";

/// Beginnings of the names of variables that launchers need of dyno's environment.
const NEEDED: [&str; 11] = [
    "HOME",
    "USER",
    "LOGNAME",
    TMPDIR,
    "SSH_",
    "SLURM_",
    "OMPI_",
    "PMI",
    "PRTE_",
    "XDG_RUNTIME",
    "KUBERNETES_",
];
/// Ports that ssh may listen at on the other machine: none that servers usually have, and below
/// those that Linux gives to outgoing connections.
const TUNNELS: std::ops::Range<u32> = 20_000..32_000;

/// What generators need to know.
#[derive(Debug, Clone)]
pub(super) struct JoinCredentials {
    pub(super) coordinator: String,
    pub(super) key: String,
    pub(super) token: String,
}

impl JoinCredentials {
    pub(super) fn new(coordinator: String, key: String) -> Self {
        Self { coordinator, key, token: token() }
    }

    /// The line for standard input.
    fn line(&self) -> String {
        format!("{} {} {}\n", self.coordinator, self.key, self.token)
    }
}

/// How long all generators may take to join: processes, and pods whose image is pulled first,
/// perhaps by a node that has yet to start.
const JOIN_LIMIT: Duration = Duration::from_secs(60);
const PODS_JOIN_LIMIT: Duration = Duration::from_secs(300);

/// A command that starts one generator, or all.
#[derive(Debug)]
pub(super) struct LaunchCommand {
    /// Program and arguments.
    pub(super) line: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) input: Option<String>,
    /// A command that removes what the launcher leaves when it is killed; run last in any case.
    pub(super) at_end: Option<Vec<String>>,
    /// True for a launcher that does not remove its temporary files when it is killed.
    pub(super) leaves_files: bool,
    /// The generator that it starts; `None`: all.
    pub(super) generator: Option<u32>,
    /// How long generators may take to join.
    pub(super) join_limit: Duration,
}

/// The commands that start generators.
///
/// # Errors
/// When this program's own path is unknown.
pub(super) fn commands(
    plan: &LauncherPlan,
    generators: u32,
    credentials: &JoinCredentials,
) -> Result<Vec<LaunchCommand>, String> {
    let own = || {
        let own = std::env::current_exe();
        own.map(|path| path.display().to_string())
            .map_err(|error| format!("the path of dyno is unknown: {error}"))
    };
    let program = match (&plan.program, plan.kind) {
        (Some(program), _) => program.clone(),
        (None, LauncherKind::Ssh) => "dyno".to_owned(),
        (None, _) => own()?,
    };
    let generator = format!("{} generator", quoted(&program));
    let environment = |rank: Option<u32>| {
        let names = [(COORDINATOR, &credentials.coordinator), (KEY, &credentials.key)];
        let names = names.into_iter().chain([(TOKEN, &credentials.token)]);
        let needed = std::env::vars()
            .filter(|(name, _)| NEEDED.iter().any(|beginning| name.starts_with(beginning)));
        let rank = rank.map(|rank| (RANK.to_owned(), rank.to_string()));
        needed
            .chain(names.map(|(name, value)| (name.to_owned(), value.clone())))
            .chain(rank)
            .collect()
    };
    let each = |text: &dyn Fn(u32) -> String| -> Vec<LaunchCommand> {
        let one = |rank| LaunchCommand {
            line: in_shell(text(rank)),
            environment: environment(Some(rank)),
            input: None,
            at_end: None,
            leaves_files: false,
            generator: Some(rank),
            join_limit: JOIN_LIMIT,
        };
        (0..generators).map(one).collect()
    };
    let all = |text: String| LaunchCommand {
        line: in_shell(format!("exec {text}")),
        environment: environment(None),
        input: None,
        at_end: None,
        leaves_files: plan.kind == LauncherKind::Mpi,
        generator: None,
        join_limit: JOIN_LIMIT,
    };
    Ok(match plan.kind {
        LauncherKind::Local => each(&|_| format!("exec {generator}")),
        LauncherKind::Command => {
            let template = plan.command.clone().unwrap_or_default();
            let filled = |rank: u32| {
                template.replace("{generator}", &generator).replace("{rank}", &rank.to_string())
            };
            // No `exec`: a template may be more than a simple command.
            each(&filled)
        }
        LauncherKind::Slurm => {
            // An allocation made by srun outlives it. Within one of the user's, no job has the
            // name.
            let job = format!("dyno-{}", &token()[..16]);
            let at_end = Some(in_shell(format!("exec scancel --quiet --name={job}")));
            let text = format!(
                "srun --job-name={job} --ntasks={generators} --kill-on-bad-exit=1 --export=ALL \
                 --input=none {generator}"
            );
            vec![LaunchCommand { at_end, ..all(text) }]
        }
        LauncherKind::Mpi => vec![all(format!(
            "mpirun -n {generators} -x {COORDINATOR} -x {KEY} -x {TOKEN} {generator}"
        ))],
        LauncherKind::Kubernetes => {
            let (line, at_end) = kubernetes_job(plan, generators, own()?, &program);
            let join_limit = PODS_JOIN_LIMIT;
            vec![LaunchCommand { line, at_end: Some(at_end), join_limit, ..all(String::new()) }]
        }
        LauncherKind::Ssh => {
            let hosts = &plan.hosts;
            (0..generators)
                .map(|rank| {
                    tunnel(&hosts[rank as usize % hosts.len()], rank, &generator, credentials)
                })
                .map(|(text, input)| LaunchCommand { input: Some(input), ..all(text) })
                .zip(0..)
                .map(|(command, rank)| LaunchCommand { generator: Some(rank), ..command })
                .collect()
        }
    })
}

/// The command lines that create and delete a Job of generators; without a shell, which the image
/// of a coordinator does not have.
fn kubernetes_job(
    plan: &LauncherPlan,
    generators: u32,
    own: String,
    program: &str,
) -> (Vec<String>, Vec<String>) {
    let name = format!("dyno-generators-{}", &token()[..12]);
    let job = [own, "kubernetes-job".to_owned(), format!("--name={name}")];
    let given = |option: &str, value: Option<String>| value.map(|it| format!("--{option}={it}"));
    let options = [
        given("generators", Some(generators.to_string())),
        given("program", Some(program.to_owned())),
        given("cpus", plan.cpus.map(|cpus| cpus.to_string())),
        given("memory", plan.memory.clone()),
        given("anti-affinity", plan.anti_affinity.clone()),
    ];
    let passed = [COORDINATOR, KEY, TOKEN].map(|name| format!("--variable={name}"));
    let options = options.into_iter().flatten().chain(passed);
    let line = job.iter().cloned().chain(options).collect();
    (line, job.into_iter().chain(["--delete".to_owned()]).collect())
}

/// ssh with a tunnel back to the coordinator, at a port drawn at random, and what its generator
/// reads on standard input.
fn tunnel(
    host: &str,
    rank: u32,
    generator: &str,
    credentials: &JoinCredentials,
) -> (String, String) {
    let drawn = u32::from_str_radix(&token()[..8], 16).unwrap_or(rank);
    let port = TUNNELS.start + drawn % (TUNNELS.end - TUNNELS.start);
    let text = format!(
        "ssh -o BatchMode=yes -o ExitOnForwardFailure=yes -o ServerAliveInterval=2 \
         -R 127.0.0.1:{port}:{} {} {RANK}={rank} {generator}",
        credentials.coordinator,
        quoted(host)
    );
    let coordinator = SocketAddr::from(([127, 0, 0, 1], port as u16)).to_string();
    (text, JoinCredentials { coordinator, ..credentials.clone() }.line())
}

/// The launcher's program, if it cannot be found here.
pub(super) fn missing(plan: &LauncherPlan) -> Option<String> {
    let text = match plan.kind {
        LauncherKind::Local | LauncherKind::Kubernetes => return None,
        LauncherKind::Command => plan.command.as_deref()?,
        LauncherKind::Slurm => "srun",
        LauncherKind::Mpi => "mpirun",
        LauncherKind::Ssh => "ssh",
    };
    let text = text.replace("{generator}", "true").replace("{rank}", "0");
    missing_command(&text).map(str::to_owned)
}

fn in_shell(text: String) -> Vec<String> {
    vec!["/bin/sh".to_owned(), "-c".to_owned(), text]
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
