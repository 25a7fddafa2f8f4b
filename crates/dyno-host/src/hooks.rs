//! Lifecycle hooks: systems elsewhere that are managed by the user's commands. Settings are
//! applied, the server is restarted or started, and dyno waits until it answers with these
//! settings.

use crate::error::HostError;
use crate::existing::{self, ConnectedSystem};
use crate::server::log;
use crate::settings;
use crate::shell::{self, Remaining};
use crate::supervisor::{Access, Last, Launch, Supervisor, SupervisorCommand};
use dyno_drivers::own_sessions;
use dyno_drivers::timeout::is_end_requested;
use dyno_model::plan::{ExclusivePlan, ExistingSystem, HooksPlan};
use dyno_model::printable::file_name;
use dyno_model::target::{Endpoint, QueryMode};
use std::collections::BTreeMap;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

type Settings = BTreeMap<String, String>;

/// Pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a server may answer with other settings than the applied ones: one that is about to be
/// restarted still answers.
const UNCHANGED: Duration = Duration::from_secs(10);

/// A system with lifecycle hooks.
pub struct LifecycleHooks<'a> {
    /// Its name, passed to the commands.
    pub name: &'a str,
    /// Its address.
    pub system: &'a ExistingSystem,
    /// Its commands.
    pub plan: &'a HooksPlan,
    /// Query mode.
    pub query_mode: QueryMode,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// The supervisor that ends its commands with dyno.
    pub supervisor: SupervisorCommand,
    /// Folder for the output of its command `stop`.
    pub logs: Option<PathBuf>,
}

/// A system that was started by its command `start`. When this ends in any way, `kill -9` of dyno
/// included, its command `stop` is run.
pub struct ExclusiveSlot(Supervisor);

impl ExclusiveSlot {
    /// Stops the system; returns what failed.
    pub fn end(mut self) -> Vec<String> {
        self.0.finish()
    }
}

/// A system whose settings are changed by its commands. When this ends in any way, `kill -9` of
/// dyno included, the commands `apply` and `restart` are run with the original values. One
/// supervisor runs all commands of the system, so that none of them is still running when the
/// settings are restored.
pub struct Restoration {
    supervisor: Supervisor,
    folder: PathBuf,
    commands: u32,
    original: Settings,
}

impl LifecycleHooks<'_> {
    /// Registers the restoration of settings. To be called before the first of them is changed.
    ///
    /// # Errors
    /// When it cannot be registered.
    pub fn promise(&self, original: Settings) -> Result<Restoration, HostError> {
        let mut supervisor = Supervisor::start(&self.supervisor)?;
        let folder = supervisor.make_folder(
            &std::env::temp_dir(),
            "dyno-command",
            Access::Passed(None),
            &[],
        )?;
        let commands = [&self.plan.apply, &self.plan.restart];
        let text: String =
            commands.into_iter().flatten().map(|it| format!("( {it}\n) || exit\n")).collect();
        supervisor.run_at_end(Last {
            launch: self.launch(&text, &original, self.log("restore")?),
            limit: 2 * Duration::from(self.plan.time_limit),
            what: format!("the commands that restore the settings of {}", self.name),
        })?;
        Ok(Restoration { supervisor, folder, commands: 0, original })
    }

    /// Restores settings and waits until they are in force, also after an interrupt by the user.
    /// Returns the original values.
    ///
    /// # Errors
    /// When a command fails, or the server does not answer with these settings in time.
    pub fn restore(&self, mut restoration: Restoration) -> Result<Settings, HostError> {
        let not_restored = |error: &str| {
            let original =
                restoration.original.iter().map(|(name, value)| format!("{name} = {value}"));
            let original = original.collect::<Vec<_>>().join(", ");
            HostError::new(format!(
                "{} may not have its original settings, {original}: {error}",
                self.name
            ))
        };
        match restoration.supervisor.finish().as_slice() {
            [] => {}
            problems => return Err(not_restored(&problems.join("; "))),
        }
        let waiting = Waiting { connect: existing::connect_to_clean_up, hears_the_user: false };
        self.wait(&restoration.original, waiting)
            .map_err(|error| not_restored(&error.to_string()))?;
        Ok(restoration.original)
    }

    /// Applies settings, restarts or starts the server, and waits until it answers with them in
    /// force.
    ///
    /// # Errors
    /// When a command fails, when a server answers before the start, and when the server does not
    /// answer in time or not with these settings.
    pub fn begin(
        &self,
        requested: &Settings,
        mut restoration: Option<&mut Restoration>,
    ) -> Result<(ConnectedSystem, Option<ExclusiveSlot>), HostError> {
        if !requested.is_empty() {
            self.run("apply", self.plan.apply.as_deref(), requested, restoration.as_deref_mut())?;
        }
        self.run("restart", self.plan.restart.as_deref(), requested, restoration)?;
        let slot = self
            .plan
            .exclusive
            .as_ref()
            .map(|exclusive| self.start(exclusive, requested))
            .transpose()?;
        if self.plan.restart.is_some() || slot.is_some() {
            own_sessions::forget(&self.system.endpoint);
        }
        let waiting = Waiting { connect: existing::connect, hears_the_user: true };
        Ok((self.wait(requested, waiting)?, slot))
    }

    fn start(
        &self,
        exclusive: &ExclusivePlan,
        requested: &Settings,
    ) -> Result<ExclusiveSlot, HostError> {
        // A server that was just told to stop may still be running.
        let began = Instant::now();
        while let Err(error) = self.is_down() {
            if is_end_requested() || began.elapsed() >= UNCHANGED {
                return Err(error);
            }
            std::thread::sleep(PAUSE);
        }
        let mut supervisor = Supervisor::start(&self.supervisor)?;
        // Registered before anything is started.
        supervisor.run_at_end(Last {
            launch: self.launch(&exclusive.stop, requested, self.log("stop")?),
            limit: self.plan.time_limit.into(),
            what: format!("the command `stop` of {}", self.name),
        })?;
        let slot = ExclusiveSlot(supervisor);
        self.run("start", Some(&exclusive.start), requested, None)?;
        Ok(slot)
    }

    /// The file for the output of a command that is run at the end.
    fn log(&self, command: &str) -> Result<PathBuf, HostError> {
        let name = format!("hooks-{}-{command}.log", file_name(self.name));
        let logs = log::create_log_folder(self.logs.as_deref())?;
        Ok(logs.map_or_else(|| PathBuf::from("/dev/null"), |logs| logs.join(name)))
    }

    fn launch(&self, command: &str, requested: &Settings, log: PathBuf) -> Launch {
        shell::launch(&with_default_umask(command), environment(self.name, requested), log)
    }

    /// Checks that a system that is to be started is not running yet.
    ///
    /// # Errors
    /// When a server already answers at its address.
    pub fn is_down(&self) -> Result<(), HostError> {
        let answers = match &self.system.endpoint {
            Endpoint::Tcp { host, port } => {
                (host.as_str(), *port).to_socket_addrs().is_ok_and(|mut all| {
                    all.any(|it| TcpStream::connect_timeout(&it, self.connect_timeout).is_ok())
                })
            }
            Endpoint::Unix(path) => UnixStream::connect(path).is_ok(),
            Endpoint::File(_) | Endpoint::InProcess => false,
        };
        if !answers {
            return Ok(());
        }
        Err(HostError::new(format!(
            "a server already answers at {} before `start` was run, and would be measured instead \
             of {}\n\
             hint: stop that server, or use `restart` instead of `start` and `stop`",
            self.system.endpoint, self.name
        )))
    }

    fn wait(&self, requested: &Settings, waiting: Waiting) -> Result<ConnectedSystem, HostError> {
        let limit = Duration::from(self.plan.time_limit);
        let began = Instant::now();
        let mut answered: Option<Instant> = None;
        loop {
            let error = match (waiting.connect)(
                self.system,
                self.query_mode,
                self.connect_timeout,
                requested,
            ) {
                Ok(connected) => match connected.problems.first() {
                    None => return Ok(connected),
                    Some(problem)
                        if answered.get_or_insert_with(Instant::now).elapsed() >= UNCHANGED =>
                    {
                        return Err(HostError::new(problem.text.clone()));
                    }
                    Some(problem) => HostError::new(problem.text.clone()),
                },
                Err(error) => error,
            };
            if waiting.hears_the_user && is_end_requested() || began.elapsed() >= limit {
                let seconds = limit.as_secs_f64();
                return Err(HostError::new(format!(
                    "it was not ready within {seconds} s: {error}"
                )));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The current values of settings.
    ///
    /// # Errors
    /// When the server does not answer, or has no such setting.
    pub fn values(&self, names: &[&str]) -> Result<Settings, HostError> {
        let connected = existing::connect(
            self.system,
            self.query_mode,
            self.connect_timeout,
            &Settings::new(),
        )?;
        let all = settings::read(&connected.target).map_err(|failure| {
            HostError::new(format!("cannot read the settings of {}: {failure}", self.name))
        })?;
        let value = |name: &&str| {
            let setting = all.get(&settings::listed_name(self.system.engine, name));
            let value = setting.map(|setting| setting.shown.clone());
            let missing = || HostError::new(format!("the server has no setting {name:?}"));
            Ok(((*name).to_owned(), value.ok_or_else(missing)?))
        };
        names.iter().map(value).collect()
    }

    fn run(
        &self,
        what: &str,
        command: Option<&str>,
        requested: &Settings,
        restoration: Option<&mut Restoration>,
    ) -> Result<(), HostError> {
        let Some(command) = command else { return Ok(()) };
        let limit = Duration::from(self.plan.time_limit);
        let name = format!("the command `{what}`");
        match restoration {
            None => {
                let environment = environment(self.name, requested);
                let command = with_default_umask(command);
                let supervisor = &self.supervisor;
                shell::run(&name, &command, environment, limit, Remaining::Stay, supervisor)
            }
            Some(restoration) => {
                restoration.commands += 1;
                let output = restoration.folder.join(format!("output-{}", restoration.commands));
                let launch =
                    Launch { leaves_running: true, ..self.launch(command, requested, output) };
                shell::run_in(&mut restoration.supervisor, launch, &name, limit)
            }
        }
    }
}

/// Parameters of waiting for a server.
#[derive(Clone, Copy)]
struct Waiting {
    connect:
        fn(&ExistingSystem, QueryMode, Duration, &Settings) -> Result<ConnectedSystem, HostError>,
    /// Whether an interrupt by the user ends the wait.
    hears_the_user: bool,
}

/// The supervisor creates private files by default, and the server may become its child.
fn with_default_umask(command: &str) -> String {
    format!("umask 022\n{command}")
}

/// Environment variables of a hook: the system, all settings as lines `name=value`, and a variable
/// for each setting.
#[must_use]
pub fn environment(system: &str, requested: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let variable = |name: &str| {
        let letters = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
        format!("DYNO_SETTING_{}", letters.collect::<String>())
    };
    let lines: String = requested.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    let mut all =
        vec![("DYNO_SYSTEM".to_owned(), system.to_owned()), ("DYNO_SETTINGS".to_owned(), lines)];
    all.extend(requested.iter().map(|(name, value)| (variable(name), value.clone())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_every_setting_in_two_forms() {
        let requested = [("work_mem", "64MB"), ("pg_stat_statements.max", "100")];
        let requested = requested.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let reported: BTreeMap<String, String> =
            environment("shop", &requested).into_iter().collect();
        assert_eq!(reported["DYNO_SETTINGS"], "pg_stat_statements.max=100\nwork_mem=64MB\n");
        assert_eq!(reported["DYNO_SETTING_PG_STAT_STATEMENTS_MAX"], "100");
        assert_eq!((reported["DYNO_SYSTEM"].as_str(), reported.len()), ("shop", 4));
    }
}
